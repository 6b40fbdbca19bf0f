import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

/** Pieces kept at a facility for a line of an order. */
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

/** Ends the reservations of lines of an order that the caller has locked; returns what was reserved. */
export async function deleteReservations(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
  lineIds: readonly string[],
): Promise<Reservation[]> {
  const rows = await tx.query<{
    line_id: string;
    facility_id: string;
    product_id: string;
    quantity: number;
  }>({
    name: "delete-reservations",
    text: `
      delete from stock_reservations
      where merchant_id = $1 and order_id = $2 and line_id = any($3::uuid[])
      returning line_id, facility_id, product_id, quantity`,
    values: [connection.merchantId, orderId, lineIds],
  });
  return rows.map((row) => ({
    orderId,
    lineId: row.line_id,
    facilityId: row.facility_id,
    productId: row.product_id,
    quantity: row.quantity,
  }));
}
