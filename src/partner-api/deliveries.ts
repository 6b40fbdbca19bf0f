import { type Static, Type } from "typebox";
import type { Initiator } from "../audit/record-audit.ts";
import { idErrors, idIn, type RouteResponse } from "../http/route.ts";
import type { KeyAccess } from "../merchants/api-key.ts";
import { findErasedAt, readErasedAt } from "../orders/personal-data-sql.ts";
import { findOrderId, orderIdFilter } from "../orders/reading/list-conditions-sql.ts";
import type { ReadOrder } from "../orders/reading/read-order.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId } from "../platform/ids.ts";
import { timeIn } from "../platform/time.ts";
import { pagePosition, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  limitField,
  pageOf,
} from "../platform/wire/schemas.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { EVENT_TYPES, PING } from "../webhooks/events/event.ts";
import { DeliverySchema, DeliveryStatusSchema } from "../webhooks/log/delivery.ts";
import {
  DeliveryDetailsSchema,
  readDeliveryDetails,
  readDeliveryPage,
} from "../webhooks/log/delivery-log.ts";
import type { DeliveryFilter } from "../webhooks/log/delivery-log-sql.ts";
import { ownerKind } from "../webhooks/owner.ts";
import { redeliver } from "../webhooks/resend/manual.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

// Partners and the back office read the same log. Only the way to find the connection differs.

export const deliveryIdField = Type.String({ description: "Id of the delivery." });

const DeliveryPageSchema = pageOf(DeliverySchema, "DeliveryPage");

export const EVENT_TYPE_TEXT = "Only deliveries of events of this type, with samples of it.";
export const DeliveryQuery = Type.Object({
  limit: limitField,
  cursor: cursorField,
  endpointId: Type.Optional(Type.String({ description: "Only deliveries to this endpoint." })),
  orderId: orderIdFilter,
  eventId: Type.Optional(Type.String({ description: "Only deliveries of this event." })),
  status: Type.Optional(describedAs(DeliveryStatusSchema, "Only deliveries with this status.")),
  eventType: Type.Optional(
    Type.Enum([...EVENT_TYPES, PING], {
      description: EVENT_TYPE_TEXT,
    }),
  ),
  since: Type.Optional(dateTime("Only deliveries with `createdAt` at or after this time.")),
  until: Type.Optional(dateTime("Only deliveries with `createdAt` before this time.")),
  hasFailedAttempts: flagField(
    "True: only deliveries with a failed attempt, whatever their status. False: only others.",
  ),
});
type DeliveryQuery = Omit<Static<typeof DeliveryQuery>, "eventType"> & { eventType?: string };

/** The id of the order that a filter names. Null without a filter, undefined if the owner of the log knows no such order. */
type FindOrder = (named: string | undefined) => Promise<string | null | undefined>;

/**
 * A partner may name an order by its own id. A merchant or a facility, which have orders of several connections, name it by the id of
 * the service.
 */
export const orderFinder =
  (readOrder: ReadOrder, owner: ConnectionKey): FindOrder =>
  async (named) => {
    if (named === undefined) return null;
    return ownerKind(owner) === "connection"
      ? findOrderId(readOrder, owner, named)
      : (fromTypeId("ord", named) ?? undefined);
  };

/** The name of the log in its cursors. */
export const DELIVERY_LIST = "deliveries";

type ReadPage = (...given: Parameters<typeof readDeliveryPage>) => Promise<object>;

/** A page of the log of an owner, newest event first. If a filter matches nothing, the page is empty. */
export async function deliveryPageResponse(
  { db, clock }: Context,
  findOrder: FindOrder,
  access: KeyAccess,
  query: DeliveryQuery,
  read: ReadPage = readDeliveryPage,
): Promise<RouteResponse | Problem> {
  const position = pagePosition(DELIVERY_LIST, query, UUID_MAX);
  if (isProblem(position)) return position;
  const filter = await deliveryFilter(findOrder, query);
  if (filter === null) return { status: 200, body: { data: [], nextCursor: null } };
  if (isProblem(filter)) return filter;
  const page = await read(db, access, filter, position, clock.now());
  return { status: 200, body: page };
}

/** What a query filters by. Null: by an order that the owner of the log does not know. */
export async function deliveryFilter(
  findOrder: FindOrder,
  query: DeliveryQuery,
): Promise<DeliveryFilter | Problem | null> {
  const errors = [...idErrors("whe", "endpointId", query), ...idErrors("evt", "eventId", query)];
  if (errors.length > 0) return validationFailed(errors);
  const orderId = await findOrder(query.orderId);
  if (orderId === undefined) return null;
  return {
    endpointId: idIn("whe", query.endpointId),
    orderId,
    eventId: idIn("evt", query.eventId),
    status: query.status ?? null,
    eventType: query.eventType ?? null,
    since: timeIn(query.since),
    until: timeIn(query.until),
    hasFailedAttempts: query.hasFailedAttempts ?? null,
  };
}

/** A delivery with the requests and responses of its attempts. Null when the connection has no such delivery. */
export async function findDelivery(context: WebhookContext, access: KeyAccess, deliveryId: string) {
  const id = fromTypeId("dlv", deliveryId);
  if (id === null) return null;
  const isOfMerchant = ownerKind(access) !== "facility";
  return readDeliveryDetails(context, access, id, (orderId) =>
    isOfMerchant ? readErasedAt(context.db, { ...access, id: orderId }) : findErasedAt(context.db, orderId),
  );
}

/** Returns 202 and the delivery, which will be sent once more, as `show` reads it. */
export async function redeliveryResponse(
  context: Context,
  access: KeyAccess,
  deliveryId: string,
  by: Initiator,
  show: (id: string) => Promise<object | null>,
): Promise<RouteResponse | Problem> {
  const id = fromTypeId("dlv", deliveryId);
  const redelivered = id === null ? notFound("delivery") : await redeliver(context, access, id, by);
  if (isProblem(redelivered)) return redelivered;
  const shown = await show(redelivered.id);
  return shown === null ? notFound("delivery") : { status: 202, body: shown };
}

const tag = "Deliveries";
const DeliveryIdParams = Type.Object({ deliveryId: deliveryIdField });

/** The delivery log of a partner's endpoints. */
export const deliveryRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/deliveries",
    operationId: "listDeliveries",
    isList: true,
    tag,
    summary: "List deliveries",
    description:
      "The delivery log of the connection's endpoints, newest event first, including deleted endpoints. If a filter matches nothing, the list is empty. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    query: DeliveryQuery,
    responses: { 200: { description: "A page of deliveries.", schema: DeliveryPageSchema } },
    problems: ["validation-failed"],
    handle: ({ caller, query }, { context, readOrder }) =>
      deliveryPageResponse(context, orderFinder(readOrder, caller), caller, query),
  }),
  route({
    method: "GET",
    path: "/v1/deliveries/{deliveryId}",
    operationId: "getDelivery",
    tag,
    summary: "Get a delivery",
    params: DeliveryIdParams,
    description: "The delivery with its newest attempts, each with its request and its response.",
    responses: { 200: { description: "The delivery with its attempts.", schema: DeliveryDetailsSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const found = await findDelivery(context, caller, params.deliveryId);
      return found === null ? notFound("delivery") : { status: 200, body: found.details };
    },
  }),
  route({
    method: "POST",
    path: "/v1/deliveries/{deliveryId}/redeliver",
    operationId: "redeliverDelivery",
    tag,
    summary: "Redeliver an event",
    description:
      "Sends the delivery once more at once, whatever its status, with the same event id. While that attempt is pending, repeating the request has no further effect. A body is ignored.",
    params: DeliveryIdParams,
    responses: {
      202: { description: "The delivery, which will be sent once more.", schema: DeliveryDetailsSchema },
    },
    problems: ["not-found", "endpoint-paused", "limit-reached"],
    handle: ({ caller, params, by }, { context }) =>
      redeliveryResponse(
        context,
        caller,
        params.deliveryId,
        by,
        async () => (await findDelivery(context, caller, params.deliveryId))?.details ?? null,
      ),
  }),
];
