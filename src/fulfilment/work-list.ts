import type { Order } from "../lifecycle/order.ts";
import { readOrdersByKey } from "../orders/orders-sql.ts";
import {
  findOrderOfShipment,
  findOrderOwner,
  findOrdersByLabel,
  type OrderCode,
  type PlacedOrder,
} from "../orders/owners-sql.ts";
import { type CodeOfId, idsIn, readCode } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import { fromTypeId } from "../platform/ids.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { PAGE_SIZE_MAX } from "../platform/wire/schemas.ts";
import { findProductsByCode, type ProductOfCode } from "../products/products-sql.ts";
import type { WorkItem } from "./pick-lists-sql.ts";
import {
  listWork,
  listWorkLines,
  listWorkNames,
  type WorkFilter,
  type WorkLine,
  type WorkNames,
} from "./work-list-sql.ts";

/** An order as a person picks and packs it. */
export type Work = WorkItem & WorkNames & { readonly order: Order; readonly lines: readonly WorkLine[] };

/** The orders with their addresses and unshipped lines. An order that has shipped in the meantime is left out. */
export async function readWork(db: Queryable, items: readonly WorkItem[]): Promise<Work[]> {
  const [orders, lines, names] = await Promise.all([
    readOrdersByKey(db, items),
    listWorkLines(db, items),
    listWorkNames(db, items),
  ]);
  const orderOf = new Map(orders.map((order) => [order.id, order]));
  const linesOf = Map.groupBy(lines, ({ orderId }) => orderId);
  return items.flatMap((item) => {
    const order = orderOf.get(item.id);
    const unshipped = linesOf.get(item.id);
    const named = names.get(item.connectionId);
    if (order === undefined || unshipped === undefined || named === undefined) return [];
    return [{ ...item, ...named, order, lines: unshipped }];
  });
}

/**
 * All orders that can be shipped, the oldest first, page by page. Memory holds one page. An order that can be shipped only
 * since its page was read is left out; no order appears twice.
 */
export async function* exportWork(
  db: Queryable,
  filter: WorkFilter,
  now: Date,
  limit = PAGE_SIZE_MAX,
): AsyncGenerator<readonly WorkItem[]> {
  let afterId: string | null = UUID_MIN;
  while (afterId !== null) {
    const found = await listWork(db, filter, { list: "work", afterId, limit }, now);
    const page: readonly WorkItem[] = found.items.slice(0, limit);
    afterId = found.items.length > limit ? (page.at(-1)?.id ?? null) : found.readTo;
    if (page.length > 0) yield page;
  }
}

/** Orders and products that a scan returns, at most. */
export const SCANNED_MAX = 10;

export type ScannedOrder = PlacedOrder & { readonly matchedBy: OrderCode };
export type Scanned = {
  readonly orders: readonly ScannedOrder[];
  readonly products: readonly ProductOfCode[];
};

/**
 * What a code on a parcel, a slip or a product names (docs/design/fulfilment.md, "Scanning"): an order by its id, by the id of
 * a shipment, by the partner's own id, by a tracking number or by the reference of a return; a product by its barcode or SKU.
 * Test orders are in no warehouse.
 */
export async function scanCode(db: Queryable, scanned: string, now: Date): Promise<Scanned> {
  const ids = idsIn(scanned);
  // An id names one thing, so nothing else is looked up.
  if (ids.length > 0) return { orders: await findById(db, ids, now), products: [] };
  const code = readCode(scanned);
  const [labeled, products] = await Promise.all([
    findOrdersByLabel(db, code, SCANNED_MAX),
    findProductsByCode(db, code, SCANNED_MAX),
  ]);
  // One order can have the text as several of these.
  const orders = labeled.filter(({ id }, index) => labeled.findIndex((other) => other.id === id) === index);
  return { orders, products };
}

/** The orders with one of the ids that a code can mean. */
async function findById(db: Queryable, ids: readonly CodeOfId[], now: Date): Promise<ScannedOrder[]> {
  const found: ScannedOrder[] = [];
  for (const { id } of ids) {
    const orderId = fromTypeId("ord", id);
    const order = orderId === null ? null : await findOrderOwner(db, orderId, now);
    if (order !== null) found.push({ ...order, matchedBy: "orderId" });
    const shipmentId = fromTypeId("shp", id);
    const shipped = shipmentId === null ? null : await findOrderOfShipment(db, shipmentId);
    if (shipped !== null) found.push({ ...shipped, matchedBy: "shipmentId" });
  }
  return found.filter(({ testMode }) => !testMode);
}
