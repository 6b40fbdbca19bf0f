import type { OrderScope } from "../../audit/grant.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { type Database, type Queryable, readToLimits } from "../../platform/database/database.ts";
import { fromTypeId, momentOf, uuidAt } from "../../platform/ids.ts";
import { CLOCK_SKEW_MAX_MS, HOUR_MS } from "../../platform/time.ts";
import {
  type ChangedPlace,
  type PagePosition,
  ROWS_READ_MAX,
  UUID_MAX,
  UUID_MIN,
} from "../../platform/wire/cursor.ts";
import { readOrders } from "../orders-sql.ts";
import type { OrderOwner } from "../owners-sql.ts";
import { listFoundOrders, listOrdersOfExternalId, sortInNewWords } from "./found-orders-sql.ts";
import {
  findOrderIdOfEvent,
  findOrderIdOfLine,
  findOrderIdOfShipment,
  isNowhere,
  isSparse,
  type OrderFilter,
} from "./list-conditions-sql.ts";
import {
  type ChangedOrders,
  type IdRange,
  type ListedOrder,
  type ListedOrders,
  listChangedOrders,
  listOrders,
  listSparseOrders,
} from "./list-orders-sql.ts";

/**
 * GET /api/orders: the orders that match a filter, by the way that reads the fewest rows
 * (docs/design/api-conventions.md, "Searching orders" and "Lists and cursors").
 */
export async function readListedOrders(
  db: Database,
  filter: OrderFilter,
  position: PagePosition,
  now: Date,
): Promise<ListedOrders> {
  if (isNowhere(filter)) return { orders: [], readTo: null };
  const range = rangeOf(filter);
  if (filter.orderId !== null || filter.text !== null)
    return listFoundOrders(db, filter, position, range, now);
  if (isSparse(filter))
    return db.transaction(async (tx) => {
      await readToLimits(tx);
      return readSparseOrders(tx, filter, position, range, now);
    });
  return { orders: await listOrders(db, filter, position, range, now), readTo: null };
}

/** The list of orders in the order of their last changes: from `updatedSince` on, or after a position. */
export async function readChangedOrders(
  db: Database,
  filter: OrderFilter,
  after: ChangedPlace | null,
  limit: number,
  now: Date,
): Promise<ChangedOrders> {
  if (isNowhere(filter)) return { orders: [], readTo: null };
  const start = after ?? { changedAt: filter.updatedSince ?? new Date(0), id: UUID_MIN };
  return db.transaction(async (tx) => {
    await readToLimits(tx);
    return listChangedOrders(tx, filter, start, limit, now);
  });
}

/** The ids that orders of these times can have. An id contains the time at which it was made, up to a difference of clocks. */
const rangeOf = ({ createdSince, createdUntil }: OrderFilter): IdRange => ({
  fromId: createdSince === null ? UUID_MIN : idAt(createdSince.getTime() - CLOCK_SKEW_MAX_MS),
  untilId: createdUntil === null ? UUID_MAX : idAt(createdUntil.getTime() + CLOCK_SKEW_MAX_MS),
});

const idAt = (ms: number): string => uuidAt(new Date(ms));

const FIRST_SPAN_MS = HOUR_MS / 4;
/** Each further part of the time is longer, so that few statements read orders that are far apart. */
const SPAN_GROWTH = 4;

/**
 * Reads the orders part by part of the time, until the page is full or ROWS_READ_MAX are read
 * (docs/design/api-conventions.md, "Lists and cursors").
 */
async function readSparseOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: PagePosition,
  range: IdRange,
  now: Date,
): Promise<ListedOrders> {
  const orders: ListedOrder[] = [];
  let after = afterId;
  let rowsRead = 0;
  for (let spanMs = FIRST_SPAN_MS; ; spanMs *= SPAN_GROWTH) {
    const part = partOf(filter, range, after, spanMs, now);
    const position = { afterId: after, limit: limit - orders.length };
    const found = await listSparseOrders(db, filter, position, part, now);
    orders.push(...found.orders);
    rowsRead += found.rowsRead;
    if (orders.length > limit) return { orders, readTo: null };
    if (found.readTo !== null) return { orders, readTo: found.readTo };
    if (part.isLast) return { orders, readTo: null };
    after = part.edge;
    if (rowsRead >= ROWS_READ_MAX) return { orders, readTo: after };
  }
}

/** The next part of the range after a position. `edge`: the position at its end. */
function partOf(
  { sort }: OrderFilter,
  range: IdRange,
  after: string,
  spanMs: number,
  now: Date,
): IdRange & { readonly edge: string; readonly isLast: boolean } {
  const newestMs = now.getTime() + CLOCK_SKEW_MAX_MS;
  const afterMs = momentOf(after).getTime();
  if (sort === "newest") {
    const startMs = Math.min(afterMs, newestMs, momentOf(range.untilId).getTime());
    const edge = idAt(startMs - spanMs);
    const isLast = edge <= range.fromId;
    return { ...range, fromId: isLast ? range.fromId : edge, edge, isLast };
  }
  const edgeMs = Math.max(afterMs, momentOf(range.fromId).getTime()) + spanMs;
  const edge = idAt(edgeMs);
  const isLast = edge >= range.untilId || edgeMs > newestMs;
  // The part ends before its edge, which is no order's id, so the next one begins after it.
  return { ...range, untilId: isLast ? range.untilId : edge, edge, isLast };
}

const ANY: Omit<OrderFilter, "scope" | "orderId" | "text" | "testMode"> = {
  merchantId: null,
  connectionId: null,
  status: null,
  onHold: null,
  holdReason: null,
  ready: null,
  facilityId: null,
  countryCode: null,
  createdSince: null,
  createdUntil: null,
  updatedSince: null,
  updatedUntil: null,
  hasFailedDelivery: null,
  sort: "newest",
};

/**
 * The orders that a text finds: first those whose external id it is, then the newest. Test orders are found by their ids
 * (docs/design/api-conventions.md, "Searching orders").
 */
export async function findOrders(
  db: Database,
  scope: OrderScope,
  text: string,
  limit: number,
  now: Date,
): Promise<(Order & OrderOwner)[]> {
  const searched = await toSearchedOrder(db, text);
  const filter = { ...ANY, ...searched, scope, testMode: text.startsWith("test_") };
  if (isNowhere(filter)) return [];
  const position = { afterId: UUID_MAX, limit: limit - 1 };
  const range = rangeOf(filter);
  const named = filter.text === null ? [] : await listOrdersOfExternalId(db, filter, position, range, now);
  const { orders } = await listFoundOrders(db, filter, position, range, now);
  const found = new Map([...named, ...orders].map((order) => [order.id, order]));
  return readWithOwners(db, [...found.values()].slice(0, limit), now);
}

/** Prepares the index of the search for what orders have been created and corrected since the last call. */
export const indexNewOrders = ({ db }: { readonly db: Database }): Promise<number> => sortInNewWords(db);

/**
 * The orders of a list as they are now, in its order, without those that were erased in the meantime. Connections are read at once.
 * @param db if it is a transaction, all are of one connection
 */
export async function readWithOwners<Listed extends ListedOrder>(
  db: Queryable,
  listed: readonly Listed[],
  now: Date,
): Promise<(Order & Listed)[]> {
  const byConnection = Map.groupBy(listed, ({ connectionId }) => connectionId);
  const read = [...byConnection.values()].flatMap((group) =>
    group.slice(0, 1).map((connection) =>
      readOrders(
        db,
        connection,
        group.map(({ id }) => id),
      ),
    ),
  );
  const orders = new Map((await Promise.all(read)).flat().map((order) => [order.id, asOf(order, now)]));
  return listed.flatMap((row) => {
    const order = orders.get(row.id);
    return order === undefined ? [] : [{ ...row, ...order }];
  });
}

/** What a text searches for: the order that it names by an id of the service, or a text that orders contain. */
export async function toSearchedOrder(
  db: Queryable,
  text: string | undefined,
): Promise<Pick<OrderFilter, "orderId" | "text">> {
  if (text === undefined) return { orderId: null, text: null };
  const trimmed = text.trim();
  const orderId = fromTypeId("ord", trimmed) ?? fromTypeId("test", trimmed);
  if (orderId !== null) return { orderId, text: null };
  const part = findByPart(db, trimmed);
  // No order has the nil UUID: what an id of the service does not find is not searched for as a text.
  return part === null ? { orderId: null, text: trimmed } : { orderId: (await part) ?? UUID_MIN, text: null };
}

function findByPart(db: Queryable, text: string): Promise<string | null> | null {
  const [shipment, event, line] = [
    fromTypeId("shp", text),
    fromTypeId("evt", text),
    fromTypeId("line", text),
  ];
  if (shipment !== null) return findOrderIdOfShipment(db, shipment);
  if (event !== null) return findOrderIdOfEvent(db, event);
  return line === null ? null : findOrderIdOfLine(db, line);
}
