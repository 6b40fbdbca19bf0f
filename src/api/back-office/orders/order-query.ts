import { type Static, Type } from "typebox";
import { orderScope } from "../../../access/scope.ts";
import type { OrderFilter } from "../../../orders/lists/order-list-filter.ts";
import { toSearchedOrder } from "../../../orders/lists/searched-order.ts";
import { OrderStatusSchema } from "../../../orders/order-wire.ts";
import type { Queryable } from "../../../platform/database/database.ts";
import { timeIn } from "../../../platform/time.ts";
import type { ValidationError } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  limitField,
  searchField,
} from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import type { BackOfficeCaller } from "../access.ts";

/** The filters of the list of orders. */
export const OrderQuery = Type.Object({
  limit: limitField,
  cursor: cursorField,
  merchantId: Type.Optional(Type.String({ description: "Only orders of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only orders of this connection." })),
  status: Type.Optional(
    describedAs(OrderStatusSchema, "Only orders with this status. PROCESSING is the review queue."),
  ),
  onHold: flagField("True: only orders on hold. False: only others."),
  holdReason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      format: "text",
      description: "Only orders that are on hold for this reason, such as `out_of_stock`.",
    }),
  ),
  ready: flagField(
    "True: only orders that the warehouse can ship now: accepted, routed, not on hold, with unshipped lines. False: only others.",
  ),
  testMode: flagField("True: test orders instead of real ones."),
  facilityId: Type.Optional(Type.String({ description: "Only orders that this facility ships." })),
  countryCode: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z]{2}$",
      description: "Only orders to this country. Two letters, such as `DE`.",
    }),
  ),
  createdSince: Type.Optional(dateTime("Only orders that were created at or after this time.")),
  createdUntil: Type.Optional(dateTime("Only orders that were created before this time.")),
  updatedSince: Type.Optional(dateTime("Only orders that last changed at or after this time.")),
  updatedUntil: Type.Optional(dateTime("Only orders that last changed before this time.")),
  hasFailedDelivery: flagField(
    "True: only orders with an event that an endpoint did not accept in any attempt. False: only others.",
  ),
  sort: Type.Optional(
    Type.Enum(["newest", "oldest"], { default: "newest", description: "Which orders come first." }),
  ),
  q: searchField(
    "The id of an order, a line, a shipment or an event; the beginning of the partner's own id, of the recipient's first and last name, or of the company; or a complete tracking number. Of the newest orders, also any other part of the partner's own id, the name or the company. Case is ignored.",
  ),
});
type OrderQuery = Static<typeof OrderQuery>;

export const filterErrors = (query: OrderQuery): ValidationError[] => [
  ...idErrors("mer", "merchantId", query),
  ...idErrors("con", "connectionId", query),
  ...idErrors("fac", "facilityId", query),
];

/** The filter that a valid query describes, within what the caller may see. */
export const toOrderFilter = async (
  db: Queryable,
  { grants }: BackOfficeCaller,
  query: OrderQuery,
): Promise<OrderFilter> => ({
  scope: orderScope(grants),
  merchantId: idIn("mer", query.merchantId),
  connectionId: idIn("con", query.connectionId),
  status: query.status ?? null,
  onHold: query.onHold ?? null,
  holdReason: query.holdReason ?? null,
  ready: query.ready ?? null,
  testMode: query.testMode ?? false,
  facilityId: idIn("fac", query.facilityId),
  countryCode: query.countryCode?.toUpperCase() ?? null,
  createdSince: timeIn(query.createdSince),
  createdUntil: timeIn(query.createdUntil),
  updatedSince: timeIn(query.updatedSince),
  updatedUntil: timeIn(query.updatedUntil),
  hasFailedDelivery: query.hasFailedDelivery ?? null,
  sort: query.sort ?? "newest",
  ...(await toSearchedOrder(db, query.q)),
});

/** How the orders were found, for the audit log: never a text that was searched for, which may name the buyer. */
export const detailsOf = ({ limit: _l, cursor: _c, sort: _s, q, ...filters }: OrderQuery) => ({
  ...filters,
  ...(q !== undefined && { searched: true }),
});
