import type { RecordedChange } from "../../changes/change.ts";
import { recordChanges } from "../../changes/record-changes.ts";
import { isSettled } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderState, OrderStatus, Shipment } from "../../lifecycle/order.ts";
import { canceledBetween, isOpen, splitsBetween } from "../../lifecycle/parts.ts";
import { merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { searchWordsOf } from "../search-words.ts";
import { isWhole } from "./order-events.ts";

/** An order before and after its changes. */
export type OrderChange<Read extends OrderState = OrderState> = {
  readonly before: Read;
  readonly after: Read;
};

/** Stores the changes of the orders' own rows. The caller has locked each order and read it under the lock. */
export async function saveOrders(tx: Queryable, changes: readonly OrderChange[], now: Date): Promise<void> {
  const [{ after: first } = { after: null }, ...others] = changes;
  const isOne = others.length === 0;
  const rows = await tx.query<{ id: string }>({
    name: isOne ? "save-order" : "save-orders",
    text: `
      update orders o
      set status = change.status, hold_reasons = change.hold_reasons, updated_at = change.updated_at,
          changed_at = greatest(o.changed_at, $3), canceled_at = change.canceled_at, last_sequence = change.last_sequence,
          has_unshipped = coalesce(change.has_unshipped, o.has_unshipped),
          personal_data_erased_at = null -- What has changed may be personal data again.
      from (
        select *
        from json_to_recordset($1::json) as input (
          merchant_id uuid, id uuid, status text, hold_reasons text[], updated_at timestamptz, canceled_at timestamptz,
          last_sequence integer, sequence_before integer, has_unshipped boolean)
        ${isOne ? ONE_ROW : ""}) as change
      where o.merchant_id = change.merchant_id and o.id = change.id and o.last_sequence = change.sequence_before
        and ${isOne ? "o.merchant_id = $2" : "($2::uuid[] is null or o.merchant_id = any($2))"}
      returning o.id`,
    values: [
      JSON.stringify(changes.map(toInput)),
      isOne
        ? first?.merchantId
        : await merchantsOf(
            tx,
            changes.map(({ after }) => after),
          ),
      now,
    ],
  });
  // No constraint makes sequences unique, because events are partitioned by their own id. The lock does. This check
  // would find an order that changed in spite of it.
  if (rows.length !== changes.length) throw new Error("An order changed although its lock was held.");
  recordChanges(tx, now, changes.flatMap(changedObjects));
}

/** The order, and its shipments that have changed. */
function changedObjects({ before, after }: OrderChange): RecordedChange[] {
  const { merchantId, id: orderId } = after;
  const events = meaningsOf({ before, after });
  const order = { merchantId, orderId, kind: "order", objectId: orderId, isTimed: true, events } as const;
  if (!isWhole(after) || !isWhole(before)) return [order];
  const leftFacilityId = before.facilityId === after.facilityId ? null : before.facilityId;
  const lines = after.lines.filter((line) => !before.lines.includes(line));
  const shipments = after.shipments.filter(
    (shipment) =>
      !before.shipments.includes(shipment) || lines.some(({ shipmentId }) => shipmentId === shipment.id),
  );
  return [
    { ...order, leftFacilityId },
    ...shipments.map(({ id }) => ({ merchantId, orderId, kind: "shipment" as const, objectId: id })),
  ];
}

/** What a change of an order means to its merchant and its facility (docs/design/event-feed.md, "Events of merchants and facilities"). */
function meaningsOf({ before, after }: OrderChange): string[] {
  const settledAs = (status: OrderStatus) => before.status !== status && after.status === status;
  const holds = String(after.holdReasons) !== String(before.holdReasons) && !isSettled(after);
  const ships =
    isWhole(before) &&
    isWhole(after) &&
    after.shipments.some(({ id }) => before.shipments.every((shipment) => shipment.id !== id));
  return [
    ...(holds ? [after.holdReasons.length > 0 ? "order.held" : "order.released"] : []),
    ...(ships ? ["order.shipped"] : []),
    ...(isWhole(before) && isWhole(after) && newlyVoided({ before, after }).length > 0
      ? ["shipment.voided"]
      : []),
    ...(isWhole(before) && isWhole(after) && canceledBetween(before, after).length > 0
      ? ["order.linesCanceled"]
      : []),
    ...(settledAs("COMPLETED") ? ["order.completed"] : []),
    ...(settledAs("CANCELED") ? ["order.canceled"] : []),
  ];
}

const newlyVoided = ({ before, after }: OrderChange<Order>): Shipment[] =>
  after.shipments.filter(
    (shipment) => shipment.status === "voided" && !before.shipments.some((earlier) => earlier === shipment),
  );

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
  has_unshipped: isWhole(after) ? after.lines.some(isOpen) : null,
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
  await unshipLines(tx, changes);
}

type ShipmentOfOrder = { readonly order: Order; readonly shipment: Shipment };

async function insertShipments(tx: Queryable, shipments: readonly ShipmentOfOrder[]): Promise<void> {
  if (shipments.length === 0) return;
  await tx.query({
    name: "insert-shipments",
    text: `
      insert into shipments (merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at,
        shipped_at, handover_reported, delivered_at, weight_grams, scanned_tracking_number)
      select merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at, shipped_at,
             handover_reported, delivered_at, weight_grams, scanned_tracking_number
      from json_to_recordset($1::json) as input (
        merchant_id uuid, order_id uuid, id uuid, status text, carrier text, tracking_number text, tracking_url text,
        created_at timestamptz, shipped_at timestamptz, handover_reported boolean, delivered_at timestamptz,
        weight_grams integer, scanned_tracking_number text)`,
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
          tracking_url = input.tracking_url, shipped_at = input.shipped_at, handover_reported = input.handover_reported,
          scanned_tracking_number = input.scanned_tracking_number, delivered_at = input.delivered_at
      from json_to_recordset($1::json) as input (
        merchant_id uuid, order_id uuid, id uuid, status text, carrier text, tracking_number text, tracking_url text,
        shipped_at timestamptz, handover_reported boolean, delivered_at timestamptz, scanned_tracking_number text)
      where s.merchant_id = input.merchant_id and s.order_id = input.order_id and s.id = input.id
        and ($2::uuid[] is null or s.merchant_id = any($2))`,
    values: [
      JSON.stringify(shipments.map(toShipmentInput)),
      await merchantsOf(
        tx,
        shipments.map(({ order }) => order),
      ),
    ],
  });
}

/** The lines of shipments that were voided have not shipped. */
async function unshipLines(tx: Queryable, changes: readonly OrderChange<Order>[]): Promise<void> {
  const voided = changes.flatMap((change) =>
    newlyVoided(change).map((shipment) => ({ order: change.after, shipment })),
  );
  if (voided.length === 0) return;
  await tx.query({
    name: "unship-lines",
    text: `
      update order_lines l
      set shipment_id = null
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as voided (merchant_id, order_id, shipment_id)
      where l.merchant_id = voided.merchant_id and l.order_id = voided.order_id and l.shipment_id = voided.shipment_id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[])`,
    values: [
      voided.map(({ order }) => order.merchantId),
      voided.map(({ order }) => order.id),
      voided.map(({ shipment }) => shipment.id),
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
  scanned_tracking_number: shipment.scannedTrackingNumber,
  tracking_url: shipment.trackingUrl,
  created_at: shipment.createdAt,
  shipped_at: shipment.shippedAt,
  handover_reported: shipment.handoverReported,
  delivered_at: shipment.deliveredAt,
  weight_grams: shipment.weightGrams,
});

/** A shipping address as columns of `order_requests`, and of `orders` the country. */
export const addressColumns = (address: Order["shippingAddress"]) => ({
  first_name: address.firstName,
  last_name: address.lastName,
  name: address.name,
  company: address.company,
  address1: address.address1,
  address2: address.address2,
  city: address.city,
  zip: address.zip,
  state_code: address.stateCode,
  country_code: address.countryCode,
  phone: address.phone,
});

/** Stores the addresses and routes of orders after a correction, and what they are found by. The caller has locked the orders. */
export async function saveAddresses(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const corrected = changes.filter(({ before, after }) => before.shippingAddress !== after.shippingAddress);
  if (corrected.length === 0) return;
  const orders = corrected.map(({ after }) => after);
  const values = [JSON.stringify(orders.map(toAddressInput)), await merchantsOf(tx, orders)];
  await tx.query({
    name: "save-addresses",
    text: `
      update order_requests r
      set first_name = change.first_name, last_name = change.last_name, name = change.name, company = change.company,
          address1 = change.address1, address2 = change.address2, city = change.city, zip = change.zip,
          state_code = change.state_code, phone = change.phone, words = change.words
      from json_to_recordset($1::json) as change (
        merchant_id uuid, id uuid, first_name text, last_name text, name text, company text, address1 text, address2 text,
        city text, zip text, state_code text, phone text, words text)
      where r.merchant_id = change.merchant_id and r.order_id = change.id and ($2::uuid[] is null or r.merchant_id = any($2))`,
    values,
  });
  await tx.query({
    name: "save-routes-of-addresses",
    text: `
      update orders o
      set country_code = change.country_code, routed_at = change.routed_at, facility_id = change.facility_id,
          first_routed_at = case
            when change.routed_at is null then coalesce(o.first_routed_at, o.routed_at)
            else o.first_routed_at
          end
      from json_to_recordset($1::json) as change (
        merchant_id uuid, id uuid, country_code text, routed_at timestamptz, facility_id uuid)
      where o.merchant_id = change.merchant_id and o.id = change.id and ($2::uuid[] is null or o.merchant_id = any($2))`,
    values,
  });
}

const toAddressInput = ({
  merchantId,
  id,
  externalOrderId,
  shippingAddress,
  routedAt,
  facilityId,
}: Order) => ({
  merchant_id: merchantId,
  id,
  ...addressColumns(shippingAddress),
  words: searchWordsOf(shippingAddress, externalOrderId),
  routed_at: routedAt,
  facility_id: facilityId,
});

/**
 * Stores the splits of lines between two states of orders. The caller has locked the orders and read them under the
 * lock. A new line has the product and the price of the line of the request.
 */
export async function storeSplits(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const splits = changes.flatMap(({ before, after }) =>
    splitsBetween(before, after).map((split) => ({
      ...split,
      merchantId: after.merchantId,
      orderId: after.id,
    })),
  );
  if (splits.length === 0) return;
  const keys = [splits.map(({ merchantId }) => merchantId), splits.map(({ orderId }) => orderId)];
  await tx.query({
    name: "reduce-lines",
    text: `
      update order_lines l
      set quantity = split.quantity
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[]) as split (merchant_id, order_id, id, quantity)
      where l.merchant_id = split.merchant_id and l.order_id = split.order_id and l.id = split.id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[]) and l.shipment_id is null`,
    values: [...keys, splits.map(({ line }) => line.id), splits.map(({ line }) => line.quantity)],
  });
  await tx.query({
    name: "insert-split-lines",
    text: `
      insert into order_lines (
        merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor, split_from)
      select l.merchant_id, l.connection_id, l.order_id, split.id, l.product_id, split.quantity, l.unit_price_minor, l.id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::uuid[])
        as split (merchant_id, order_id, id, quantity, split_from)
      join order_lines l
        on l.merchant_id = split.merchant_id and l.order_id = split.order_id and l.id = split.split_from
      where l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[])`,
    values: [
      ...keys,
      splits.map(({ rest }) => rest.id),
      splits.map(({ rest }) => rest.quantity),
      splits.map(({ rest }) => rest.splitFrom),
    ],
  });
}
