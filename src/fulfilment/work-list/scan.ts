import {
  findOrderOfShipment,
  findOrderOwner,
  findOrdersByLabel,
  type OrderCode,
  type PlacedOrder,
} from "../../orders/order-owners-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import type { Product } from "../../products/product.ts";
import { findProductsByCode } from "../../products/products-sql.ts";

/** Orders and products that a scan returns, at most. */
export const SCANNED_MAX = 10;

export type ScannedOrder = PlacedOrder & { readonly matchedBy: OrderCode };
export type Scanned = { readonly orders: readonly ScannedOrder[]; readonly products: readonly Product[] };

/**
 * What a code on a parcel, a slip or a product names (decision 0148): an order by its id, by the id of a shipment, by the
 * partner's own id, by a tracking number or by the reference of a return; a product by its barcode or SKU. Test orders are
 * in no warehouse.
 */
export async function scanCode(db: Queryable, code: string, now: Date): Promise<Scanned> {
  const byId = await findById(db, code, now);
  if (byId !== null) return { orders: byId.testMode ? [] : [byId], products: [] };
  const [labeled, products] = await Promise.all([
    findOrdersByLabel(db, code, SCANNED_MAX),
    findProductsByCode(db, code, SCANNED_MAX),
  ]);
  // One order can have the text as several of these.
  const orders = labeled.filter(({ id }, index) => labeled.findIndex((other) => other.id === id) === index);
  return { orders, products };
}

/** An id names one thing, so nothing else is looked up. */
async function findById(db: Queryable, code: string, now: Date): Promise<ScannedOrder | null> {
  const orderId = fromTypeId("ord", code);
  const order = orderId === null ? null : await findOrderOwner(db, orderId, now);
  if (order !== null) return { ...order, matchedBy: "orderId" };
  const shipmentId = fromTypeId("shp", code);
  const shipped = shipmentId === null ? null : await findOrderOfShipment(db, shipmentId);
  return shipped === null ? null : { ...shipped, matchedBy: "shipmentId" };
}
