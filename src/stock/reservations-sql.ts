import { amongMerchants, merchantsOf } from "../distribution/among-merchants.ts";
import type { Queryable } from "../platform/database/database.ts";

/** Units reserved at a facility for a line of an order. */
export type Reservation = {
  readonly orderId: string;
  readonly lineId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly quantity: number;
};

/** Units of a merchant's stock that are reserved. */
export type MerchantReservation = Reservation & { readonly merchantId: string };

export async function insertReservations(
  tx: Queryable,
  reservations: readonly MerchantReservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  await tx.query({
    name: "insert-reservations",
    text: `
      insert into stock_reservations (merchant_id, order_id, line_id, facility_id, product_id, quantity)
      select merchant_id, order_id, line_id, facility_id, product_id, quantity
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::integer[])
        as kept (merchant_id, order_id, line_id, facility_id, product_id, quantity)`,
    values: [
      reservations.map(({ merchantId }) => merchantId),
      reservations.map(({ orderId }) => orderId),
      reservations.map(({ lineId }) => lineId),
      reservations.map(({ facilityId }) => facilityId),
      reservations.map(({ productId }) => productId),
      reservations.map(({ quantity }) => quantity),
    ],
  });
}

/** Units of a reserved line that became a line of their own. */
export type ReservationSplit = {
  readonly merchantId: string;
  readonly orderId: string;
  readonly lineId: string;
  readonly restId: string;
  /** Of the new line. */
  readonly quantity: number;
};

/** Moves a part of each line's reservation to the line that was split from it. The stock keeps what is reserved. */
export async function splitReservations(tx: Queryable, splits: readonly ReservationSplit[]): Promise<void> {
  if (splits.length === 0) return;
  await tx.query({
    name: "split-reservations",
    text: `
      with reduced as (
        update stock_reservations r
        set quantity = r.quantity - split.quantity
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::integer[])
          as split (merchant_id, order_id, line_id, rest_id, quantity)
        where r.merchant_id = split.merchant_id and r.order_id = split.order_id and r.line_id = split.line_id
          and ${amongMerchants("$6", "r.merchant_id")}
        returning r.merchant_id, r.order_id, split.rest_id, r.facility_id, r.product_id, split.quantity
      )
      insert into stock_reservations (merchant_id, order_id, line_id, facility_id, product_id, quantity)
      select merchant_id, order_id, rest_id, facility_id, product_id, quantity
      from reduced`,
    values: [
      splits.map(({ merchantId }) => merchantId),
      splits.map(({ orderId }) => orderId),
      splits.map(({ lineId }) => lineId),
      splits.map(({ restId }) => restId),
      splits.map(({ quantity }) => quantity),
      await merchantsOf(tx, splits),
    ],
  });
}

/** Ends the reservations for lines of orders. Returns those that existed. The caller has locked the orders. */
export async function deleteReservations(
  tx: Queryable,
  lines: readonly { readonly merchantId: string; readonly orderId: string; readonly lineId: string }[],
): Promise<MerchantReservation[]> {
  if (lines.length === 0) return [];
  const rows = await tx.query<{
    merchant_id: string;
    order_id: string;
    line_id: string;
    facility_id: string;
    product_id: string;
    quantity: number;
  }>({
    name: "delete-reservations",
    text: `
      delete from stock_reservations r
      using unnest($1::uuid[], $2::uuid[], $3::uuid[]) as ended (merchant_id, order_id, line_id)
      where r.merchant_id = ended.merchant_id and r.order_id = ended.order_id and r.line_id = ended.line_id
        and ${amongMerchants("$4", "r.merchant_id")}
      returning r.merchant_id, r.order_id, r.line_id, r.facility_id, r.product_id, r.quantity`,
    values: [
      lines.map(({ merchantId }) => merchantId),
      lines.map(({ orderId }) => orderId),
      lines.map(({ lineId }) => lineId),
      await merchantsOf(tx, lines),
    ],
  });
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    orderId: row.order_id,
    lineId: row.line_id,
    facilityId: row.facility_id,
    productId: row.product_id,
    quantity: row.quantity,
  }));
}
