import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

/** Pieces reserved at a facility for a line of an order. */
export type Reservation = {
  readonly orderId: string;
  readonly lineId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly quantity: number;
};

export async function insertReservations(
  tx: Queryable,
  connection: ConnectionKey,
  reservations: readonly Reservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  await tx.query({
    name: "insert-reservations",
    text: `
      insert into stock_reservations (merchant_id, order_id, line_id, facility_id, product_id, quantity)
      select $1, order_id, line_id, facility_id, product_id, quantity
      from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::integer[])
        as kept (order_id, line_id, facility_id, product_id, quantity)`,
    values: [
      connection.merchantId,
      reservations.map(({ orderId }) => orderId),
      reservations.map(({ lineId }) => lineId),
      reservations.map(({ facilityId }) => facilityId),
      reservations.map(({ productId }) => productId),
      reservations.map(({ quantity }) => quantity),
    ],
  });
}

/**
 * Ends the reservations for lines of a merchant's orders. Returns those that existed. The caller has locked the orders.
 */
export async function deleteReservations(
  tx: Queryable,
  merchantId: string,
  lines: readonly { readonly orderId: string; readonly lineId: string }[],
): Promise<Reservation[]> {
  if (lines.length === 0) return [];
  const rows = await tx.query<{
    order_id: string;
    line_id: string;
    facility_id: string;
    product_id: string;
    quantity: number;
  }>({
    name: "delete-reservations",
    text: `
      delete from stock_reservations
      where merchant_id = $1 and order_id = any($2::uuid[]) and line_id = any($3::uuid[])
      returning order_id, line_id, facility_id, product_id, quantity`,
    values: [
      merchantId,
      [...new Set(lines.map(({ orderId }) => orderId))],
      lines.map(({ lineId }) => lineId),
    ],
  });
  return rows.map((row) => ({
    orderId: row.order_id,
    lineId: row.line_id,
    facilityId: row.facility_id,
    productId: row.product_id,
    quantity: row.quantity,
  }));
}
