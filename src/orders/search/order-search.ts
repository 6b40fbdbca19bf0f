import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { isExpired } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { timeIn } from "../../platform/time.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../../platform/wire/cursor.ts";
import { describedAs } from "../../platform/wire/schemas.ts";
import { OrderStatusSchema } from "../order-wire.ts";

const EXTERNAL_IDS_MAX = 100;

const timeField = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

/** Absent fields restrict nothing. An order is found if it fits all that are present. */
export const OrderSearchSchema = Type.Object(
  {
    status: Type.Optional(
      Type.Array(describedAs(OrderStatusSchema, "A status that the order may have."), {
        minItems: 1,
        maxItems: 7,
        description: "Only orders with one of these statuses, as the response shows them.",
      }),
    ),
    onHold: Type.Optional(
      Type.Boolean({ description: "True: only orders on hold. False: only others. Default: both." }),
    ),
    testMode: Type.Optional(
      Type.Boolean({
        description:
          "True: only test orders. False: only real ones. Default: both, and with a test key only test orders.",
      }),
    ),
    createdSince: timeField("Only orders that were created at or after this time."),
    createdUntil: timeField("Only orders that were created before this time."),
    updatedSince: timeField("Only orders that last changed at or after this time."),
    externalOrderIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200, format: "text" }), {
        minItems: 1,
        maxItems: EXTERNAL_IDS_MAX,
        description: "Only orders with one of these ids of the partner.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PAGE_SIZE_MAX,
        default: PAGE_SIZE_DEFAULT,
        description: "Maximum number of orders on the page.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        format: "text",
        description:
          "`nextCursor` of the previous page. The other fields must be the same, except `limit`. Opaque: it is not to be parsed.",
      }),
    ),
  },
  // A filter with another name would find all orders (decision 0190).
  {
    title: "OrderSearch",
    description: "Which orders of the connection to find. Unknown fields are rejected.",
    additionalProperties: false,
  },
);

/** A null restricts nothing. */
export type OrderSearch = {
  readonly statuses: readonly string[] | null;
  readonly onHold: boolean | null;
  readonly testMode: boolean | null;
  readonly createdSince: Date | null;
  readonly createdUntil: Date | null;
  readonly updatedSince: Date | null;
  readonly externalOrderIds: readonly string[] | null;
};

/** @param testOnly a test key finds no real order (decision 0074), and nothing if it searches for real ones */
export function toOrderSearch(body: Static<typeof OrderSearchSchema>, testOnly: boolean): OrderSearch {
  const isNothing = testOnly && body.testMode === false;
  return {
    statuses: isNothing ? [] : (body.status ?? null),
    onHold: body.onHold ?? null,
    testMode: testOnly ? true : (body.testMode ?? null),
    createdSince: timeIn(body.createdSince),
    createdUntil: timeIn(body.createdUntil),
    updatedSince: timeIn(body.updatedSince),
    externalOrderIds: body.externalOrderIds ?? null,
  };
}

/** The name of the list that a search pages through. A cursor of another search is not valid for it. */
export function listNameOf({ statuses, externalOrderIds, ...others }: OrderSearch): string {
  const sets = [statuses, externalOrderIds].map((set) => (set === null ? null : [...new Set(set)].sort()));
  const text = JSON.stringify([sets, Object.values(others)]);
  return `order search ${createHash("sha256").update(text).digest("hex")}`;
}

/** Whether a search finds an order, as it is at `now`. The order must be `asOf` now. */
export function isFound(order: Order, search: OrderSearch, now: Date): boolean {
  const { statuses, onHold, testMode, createdSince, createdUntil, updatedSince, externalOrderIds } = search;
  return (
    !isExpired(order, now) &&
    (statuses === null || statuses.includes(order.status)) &&
    (onHold === null || order.holdReasons.length > 0 === onHold) &&
    (testMode === null || order.testMode === testMode) &&
    (createdSince === null || order.createdAt >= createdSince) &&
    (createdUntil === null || order.createdAt < createdUntil) &&
    (updatedSince === null || order.updatedAt >= updatedSince) &&
    (externalOrderIds === null ||
      (order.externalOrderId !== null && externalOrderIds.includes(order.externalOrderId)))
  );
}
