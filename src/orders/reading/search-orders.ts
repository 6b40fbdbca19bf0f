import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { asOf, isExpired } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { bytesOf, uuidAt, uuidOf } from "../../platform/ids.ts";
import { after, before, CLOCK_SKEW_MAX_MS, timeIn } from "../../platform/time.ts";
import { decodeCursor, encodeCursor, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { describedAs, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../../platform/wire/schemas.ts";
import { OrderStatusSchema } from "../order-wire.ts";
import { readOrders } from "../orders-sql.ts";

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
  // A filter with another name would find all orders (docs/design/api-conventions.md, "Unknown fields").
  {
    title: "OrderSearch",
    description: "Which orders of the connection to find. Unknown fields are rejected.",
    additionalProperties: false,
  },
);

/** A null restricts nothing. */
type OrderSearch = {
  readonly statuses: readonly string[] | null;
  readonly onHold: boolean | null;
  readonly testMode: boolean | null;
  readonly createdSince: Date | null;
  readonly createdUntil: Date | null;
  readonly updatedSince: Date | null;
  readonly externalOrderIds: readonly string[] | null;
};

/**
 * @param testOnly a test key finds no real order (docs/design/isolation-and-limits.md, "Live and test keys"), and nothing if it
 *   searches for real ones
 */
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
function listNameOf({ statuses, externalOrderIds, ...others }: OrderSearch): string {
  const sets = [statuses, externalOrderIds].map((set) => (set === null ? null : [...new Set(set)].sort()));
  const text = JSON.stringify([sets, Object.values(others)]);
  return `order search ${createHash("sha256").update(text).digest("hex")}`;
}

/** True if a search finds an order, as it is at `now`. The order must be `asOf` now. */
function isFound(order: Order, search: OrderSearch, now: Date): boolean {
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

/** The ids that a page may have: below `beforeId`, and from `fromId` on. */
type SearchRange = { readonly beforeId: string; readonly fromId: string; readonly limit: number };

/** `fits` is false for the last row that was read, if only that is why it is returned. */
type FoundRow = { readonly id: string; readonly fits: boolean; readonly isLast: boolean };

/**
 * The newest orders of a connection that a search finds as partners see them at $6: an order whose deadline has passed is
 * accepted, even if no worker has stored that (docs/design/lifecycle.md, "The deadline decides"). Returns one more than the
 * page if there is one. Reads at most ROWS_READ_MAX of them by their ids. The last of these is returned even if it does not
 * fit, so that the next page can continue after it. Uses order_requests_connection_idx, whose condition the statement
 * names.
 */
async function listFoundOrders(
  db: Queryable,
  connection: ConnectionKey,
  search: OrderSearch,
  range: SearchRange,
  now: Date,
): Promise<FoundRow[]> {
  return db.query<FoundRow>({
    name: "search-orders",
    text: `
      select o.id, o.fits, o.is_last as "isLast"
      from (
        select o.id,
               ((o.expires_at is null or o.expires_at > $6)
                 and ($7::text[] is null
                   or (case when o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
                     and o.acceptance_due_at <= $6 then 'ACCEPTED' else o.status end) = any($7))
                 and ($8::boolean is null or (o.hold_reasons <> '{}') = $8)
                 and ($9::boolean is null or o.test_mode = $9)
                 and ($10::timestamptz is null or o.created_at >= $10)
                 and ($11::timestamptz is null or o.created_at < $11)
                 and ($12::timestamptz is null or o.updated_at >= $12
                      or o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
                        and o.acceptance_due_at <= $6 and o.acceptance_due_at >= $12)) as fits,
               row_number() over (order by o.id desc) = 5000 as is_last
        from (
          select r.order_id
          from order_requests r
          where r.merchant_id = $1 and r.connection_id = $2 and r.order_id < $3 and r.order_id >= $4
            and r.order_id > '00000000-0000-0000-0000-000000000000'
          order by r.order_id desc
          limit 5000) as r
        cross join lateral (
          select o.id, o.status, o.test_mode, o.hold_reasons, o.created_at, o.updated_at, o.acceptance_due_at, o.expires_at
          from orders o
          where o.merchant_id = $1 and o.id = r.order_id
          offset 0) as o) as o
      where o.fits or o.is_last
      order by o.id desc
      limit $5 + 1`,
    values: values(connection, search, range, now),
  });
}

/** The same for a search by ids of the partner. It reads no order with another one. */
async function listOrdersNamed(
  db: Queryable,
  connection: ConnectionKey,
  search: OrderSearch & { readonly externalOrderIds: readonly string[] },
  range: SearchRange,
  now: Date,
): Promise<FoundRow[]> {
  return db.query<FoundRow>({
    name: "search-orders-named",
    text: `
      select o.id, true as fits, false as "isLast"
      from order_requests r
      join orders o on o.merchant_id = $1 and o.id = r.order_id
      where r.merchant_id = $1 and r.connection_id = $2 and r.external_order_id = any($13::text[])
        and r.order_id < $3 and r.order_id >= $4 and (o.expires_at is null or o.expires_at > $6)
        and ($7::text[] is null
          or (case when o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
            and o.acceptance_due_at <= $6 then 'ACCEPTED' else o.status end) = any($7))
        and ($8::boolean is null or (o.hold_reasons <> '{}') = $8)
        and ($9::boolean is null or o.test_mode = $9)
        and ($10::timestamptz is null or o.created_at >= $10)
        and ($11::timestamptz is null or o.created_at < $11)
        and ($12::timestamptz is null or o.updated_at >= $12
             or o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
               and o.acceptance_due_at <= $6 and o.acceptance_due_at >= $12)
      order by r.order_id desc
      limit $5 + 1`,
    values: [...values(connection, search, range, now), search.externalOrderIds],
  });
}

const values = (
  { merchantId, connectionId }: ConnectionKey,
  search: OrderSearch,
  { beforeId, fromId, limit }: SearchRange,
  now: Date,
) => [
  merchantId,
  connectionId,
  beforeId,
  fromId,
  limit,
  now,
  search.statuses,
  search.onHold,
  search.testMode,
  search.createdSince,
  search.createdUntil,
  search.updatedSince,
];

export type OrderPage = { readonly orders: readonly Order[]; readonly nextCursor: string | null };

/**
 * POST /v1/orders/search: a page of the connection's orders that a search finds, as they are now, newest first
 * (docs/design/api-conventions.md, "Searching orders"). An order that changes while the page is read is on it only if it still
 * fits.
 */
export async function searchOrders(
  { db, clock }: Context,
  connection: ConnectionKey,
  search: OrderSearch,
  { limit = PAGE_SIZE_DEFAULT, cursor }: { limit?: number; cursor?: string },
): Promise<OrderPage | Problem> {
  const list = listNameOf(search);
  const position = cursor === undefined ? null : decodeCursor(list, cursor);
  if (cursor !== undefined && position?.length !== 16) return BAD_CURSOR;
  const now = clock.now();
  const range = rangeOf(search, position === null ? null : uuidOf(position), limit);
  const { externalOrderIds } = search;
  const rows = await (externalOrderIds === null
    ? listFoundOrders(db, connection, search, range, now)
    : listOrdersNamed(db, connection, { ...search, externalOrderIds }, range, now));
  const ids = rows
    .filter(({ fits }) => fits)
    .slice(0, limit)
    .map(({ id }) => id);
  const read = (await readOrders(db, connection, ids)).map((order) => asOf(order, now));
  const orders = read.filter((order) => isFound(order, search, now)).sort(byNewest);
  const readTo = lastOf(rows, limit);
  return { orders, nextCursor: readTo === null ? null : encodeCursor(list, bytesOf(readTo)) };
}

const BAD_CURSOR: Problem = validationFailed([{ pointer: "/cursor", rule: "cursor" }]);

/** The ids that orders of these times can have. An id contains the time at which it was made, up to a difference of clocks. */
function rangeOf(
  { createdSince, createdUntil }: OrderSearch,
  afterId: string | null,
  limit: number,
): SearchRange {
  const until = createdUntil === null ? UUID_MAX : uuidAt(after(createdUntil, CLOCK_SKEW_MAX_MS));
  const fromId = createdSince === null ? UUID_MIN : uuidAt(before(createdSince, CLOCK_SKEW_MAX_MS));
  return { beforeId: afterId !== null && afterId < until ? afterId : until, fromId, limit };
}

/** The row after which the next page begins. Null at the end of the list. */
function lastOf(rows: readonly FoundRow[], limit: number): string | null {
  if (rows.length > limit) return rows[limit - 1]?.id ?? null;
  return rows.find(({ isLast }) => isLast)?.id ?? null;
}

const byNewest = (one: Order, other: Order): number => (one.id < other.id ? 1 : -1);
