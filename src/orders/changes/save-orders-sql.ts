import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import type { Order, OrderState, Shipment } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isWhole } from "./opt-ins.ts";

/** An order before and after its changes. */
export type OrderChange<Read extends OrderState = OrderState> = {
  readonly before: Read;
  readonly after: Read;
};

/** Stores the changes of the orders' own rows. The caller has locked each order and read it under the lock. */
export async function saveOrders(tx: Queryable, changes: readonly OrderChange[]): Promise<void> {
  const [{ after: first } = { after: null }, ...others] = changes;
  const isOne = others.length === 0;
  const rows = await tx.query<{ id: string }>({
    name: isOne ? "save-order" : "save-orders",
    text: `
      update orders o
      set status = change.status, hold_reasons = change.hold_reasons, updated_at = change.updated_at,
          canceled_at = change.canceled_at, last_sequence = change.last_sequence,
          has_unshipped = coalesce(change.has_unshipped, o.has_unshipped),
          personal_data_erased_at = null -- What has changed may be personal data again.
      from (
        select *
        from json_to_recordset($1::json) as input (
          merchant_id uuid, id uuid, status text, hold_reasons text[], updated_at timestamptz, canceled_at timestamptz,
          last_sequence integer, sequence_before integer, has_unshipped boolean)
        ${isOne ? ONE_ROW : ""}) as change
      where o.merchant_id = change.merchant_id and o.id = change.id and o.last_sequence = change.sequence_before
        and ${isOne ? "o.merchant_id = $2" : amongMerchants("$2", "o.merchant_id")}
      returning o.id`,
    values: [
      JSON.stringify(changes.map(toInput)),
      isOne
        ? first?.merchantId
        : await merchantsOf(
            tx,
            changes.map(({ after }) => after),
          ),
    ],
  });
  // No constraint makes sequences unique, because events are partitioned by their own id. The lock does. This check
  // would find an order that changed in spite of it.
  if (rows.length !== changes.length) throw new Error("An order changed although its lock was held.");
}

/** Without this, the planner expects a hundred rows, and scans the whole table while it is small. */
const ONE_ROW = "limit 1";

const toInput = ({ before, after }: OrderChange) => ({
  merchant_id: after.merchantId,
  id: after.id,
  status: after.status,
  hold_reasons: after.holdReasons,
  updated_at: after.updatedAt,
  canceled_at: after.canceledAt,
  last_sequence: after.lastSequence,
  sequence_before: before.lastSequence,
  has_unshipped: isWhole(after) ? after.lines.some((line) => line.shipmentId === null) : null,
});

/** Stores the changes of the orders' shipments and the lines that they contain. */
export async function saveShipments(tx: Queryable, changes: readonly OrderChange<Order>[]): Promise<void> {
  const changed = changes.flatMap(({ before, after }) =>
    after.shipments.flatMap((shipment) => {
      const stored = before.shipments.find(({ id }) => id === shipment.id);
      return stored === shipment ? [] : [{ order: after, shipment, isNew: stored === undefined }];
    }),
  );
  await insertShipments(
    tx,
    changed.filter(({ isNew }) => isNew),
  );
  await updateShipments(
    tx,
    changed.filter(({ isNew }) => !isNew),
  );
}

type ShipmentOfOrder = { readonly order: Order; readonly shipment: Shipment };

async function insertShipments(tx: Queryable, shipments: readonly ShipmentOfOrder[]): Promise<void> {
  if (shipments.length === 0) return;
  await tx.query({
    name: "insert-shipments",
    text: `
      insert into shipments (merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at,
        shipped_at, delivered_at, weight_grams)
      select merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at, shipped_at,
             delivered_at, weight_grams
      from json_to_recordset($1::json) as input (
        merchant_id uuid, order_id uuid, id uuid, status text, carrier text, tracking_number text, tracking_url text,
        created_at timestamptz, shipped_at timestamptz, delivered_at timestamptz, weight_grams integer)`,
    values: [JSON.stringify(shipments.map(toShipmentInput))],
  });
  const covered = shipments.flatMap(({ order, shipment }) =>
    order.lines.flatMap((line) =>
      line.shipmentId === shipment.id ? [{ order, lineId: line.id, shipment }] : [],
    ),
  );
  await tx.query({
    name: "ship-lines",
    text: `
      update order_lines l
      set shipment_id = covered.shipment_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[])
        as covered (merchant_id, order_id, id, shipment_id)
      where l.merchant_id = covered.merchant_id and l.order_id = covered.order_id and l.id = covered.id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[]) and l.shipment_id is null`,
    values: [
      covered.map(({ order }) => order.merchantId),
      covered.map(({ order }) => order.id),
      covered.map(({ lineId }) => lineId),
      covered.map(({ shipment }) => shipment.id),
    ],
  });
}

async function updateShipments(tx: Queryable, shipments: readonly ShipmentOfOrder[]): Promise<void> {
  if (shipments.length === 0) return;
  await tx.query({
    name: "update-shipments",
    text: `
      update shipments s
      set status = input.status, carrier = input.carrier, tracking_number = input.tracking_number,
          tracking_url = input.tracking_url, shipped_at = input.shipped_at, delivered_at = input.delivered_at
      from json_to_recordset($1::json) as input (
        merchant_id uuid, order_id uuid, id uuid, status text, carrier text, tracking_number text, tracking_url text,
        shipped_at timestamptz, delivered_at timestamptz)
      where s.merchant_id = input.merchant_id and s.order_id = input.order_id and s.id = input.id
        and ${amongMerchants("$2", "s.merchant_id")}`,
    values: [
      JSON.stringify(shipments.map(toShipmentInput)),
      await merchantsOf(
        tx,
        shipments.map(({ order }) => order),
      ),
    ],
  });
}

const toShipmentInput = ({ order, shipment }: ShipmentOfOrder) => ({
  merchant_id: order.merchantId,
  order_id: order.id,
  id: shipment.id,
  status: shipment.status,
  carrier: shipment.carrier,
  tracking_number: shipment.trackingNumber,
  tracking_url: shipment.trackingUrl,
  created_at: shipment.createdAt,
  shipped_at: shipment.shippedAt,
  delivered_at: shipment.deliveredAt,
  weight_grams: shipment.weightGrams,
});
