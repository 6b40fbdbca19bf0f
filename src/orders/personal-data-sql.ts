import { recordChanges } from "../changes/record-changes.ts";
import type { OrderKey, OrderStatus, ShippingAddress } from "../lifecycle/order.ts";
import { connectionColumns } from "../platform/connection-key.ts";
import { merchantsOf, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";

/** An order whose personal data is erased: settled orders are not on hold. */
export type ErasedOrder = OrderKey & {
  readonly status: OrderStatus;
  readonly holdReasons: readonly string[];
  readonly createdAt: Date;
};

/** Settled orders of all merchants that have not changed since a time, the oldest first. A scan over all shards. */
export async function listOrdersToErase(
  db: Queryable,
  unchangedSince: Date,
  except: readonly string[],
  limit: number,
): Promise<OrderKey[]> {
  return searchReachable(db, "list-orders-to-erase", (merchants) =>
    db.query<OrderKey>({
      name: "list-orders-to-erase",
      text: `
        select o.merchant_id as "merchantId", o.connection_id as "connectionId", o.id
        from orders o
        where o.status in ('COMPLETED', 'CANCELED', 'RETURNED') and not o.test_mode
          and o.personal_data_erased_at is null and o.updated_at <= $1 and o.id <> all($2::uuid[])
          and ($4::uuid[] is null or o.merchant_id = any($4))
        order by o.updated_at
        limit $3`,
      values: [unchangedSince, except, limit, merchants],
    }),
  );
}

/**
 * Marks those of the orders as erased that are settled, not erased yet, and unchanged since a time. Returns these: whatever was
 * read before is checked again.
 */
export async function markAsErased(
  tx: Queryable,
  keys: readonly OrderKey[],
  { unchangedSince, now }: { readonly unchangedSince: Date; readonly now: Date },
): Promise<ErasedOrder[]> {
  const erased = await tx.query<ErasedOrder>({
    name: "mark-as-erased",
    text: `
      update orders o
      set personal_data_erased_at = $4, changed_at = greatest(o.changed_at, $4),
          -- Partners see the erased address. The sum is in UTC, because Citus updates by no function that depends on a time zone.
          updated_at = greatest($4, (o.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
      where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
        and o.status in ('COMPLETED', 'CANCELED', 'RETURNED') and not o.test_mode
        and o.personal_data_erased_at is null and o.updated_at <= $5
        and ($6::uuid[] is null or o.merchant_id = any($6))
      returning o.merchant_id as "merchantId", o.connection_id as "connectionId", o.id, o.status,
                o.hold_reasons as "holdReasons", o.created_at as "createdAt"`,
    values: [
      ...connectionColumns(keys),
      keys.map(({ id }) => id),
      now,
      unchangedSince,
      await merchantsOf(tx, keys),
    ],
  });
  recordChanges(
    tx,
    now,
    erased.map(({ merchantId, id }) => ({
      merchantId,
      orderId: id,
      kind: "order",
      objectId: id,
      isTimed: true,
    })),
  );
  return erased;
}

/** Erases the addresses of orders, and what partners have written for people. The orders are not found by it any more. */
export async function eraseAddresses(tx: Queryable, orders: readonly OrderKey[]): Promise<void> {
  await tx.query({
    name: "erase-addresses",
    text: `
      update order_requests r
      set first_name = $3, last_name = $3, name = $3, company = null, address1 = $3, address2 = null, city = $3, zip = $3,
          state_code = null, phone = null, note = null, metadata = null, words = null
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where r.merchant_id = erased.merchant_id and r.order_id = erased.order_id
        and ($4::uuid[] is null or r.merchant_id = any($4))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      ERASED,
      await merchantsOf(tx, orders),
    ],
  });
}

/** After a person has written about an erased order: it is erased again. A change of the order itself does the same. */
export async function markNotErased(tx: Queryable, { merchantId, id }: OrderKey): Promise<void> {
  await tx.query({
    name: "mark-not-erased",
    text: `
      update orders
      set personal_data_erased_at = null
      where merchant_id = $1 and id = $2 and personal_data_erased_at is not null`,
    values: [merchantId, id],
  });
}

/** Erases the tracking of orders: it leads to the recipient at the carrier. Returns the ids of all their shipments. */
export async function eraseTracking(
  tx: Queryable,
  orders: readonly OrderKey[],
  now: Date,
): Promise<{ merchantId: string; id: string }[]> {
  const erased = await tx.query<{ merchantId: string; orderId: string; id: string }>({
    name: "erase-tracking",
    text: `
      update shipments s
      set tracking_number = null, scanned_tracking_number = null, tracking_url = null
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where s.merchant_id = erased.merchant_id and s.order_id = erased.order_id
        and ($3::uuid[] is null or s.merchant_id = any($3))
      returning s.merchant_id as "merchantId", s.order_id as "orderId", s.id`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      await merchantsOf(tx, orders),
    ],
  });
  recordChanges(
    tx,
    now,
    erased.map(({ id: objectId, ...of }) => ({ ...of, kind: "shipment", objectId })),
  );
  return erased;
}

/** Erases what people wrote into the timelines of orders. */
export async function eraseTimelineDetails(tx: Queryable, orders: readonly OrderKey[]): Promise<void> {
  await tx.query({
    name: "erase-timeline-details",
    text: `
      update timeline_entries t
      set detail = $3
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where t.merchant_id = erased.merchant_id and t.order_id = erased.order_id and t.detail is not null
        and ($4::uuid[] is null or t.merchant_id = any($4))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      ERASED,
      await merchantsOf(tx, orders),
    ],
  });
}

/** When the personal data of the buyer was erased; null if it was not. */
export async function readErasedAt(db: Queryable, { merchantId, id }: OrderKey): Promise<Date | null> {
  const [row] = await db.query<{ erasedAt: Date | null }>({
    name: "read-erased-at",
    text: `
      select personal_data_erased_at as "erasedAt"
      from orders
      where merchant_id = $1 and id = $2`,
    values: [merchantId, id],
  });
  return row?.erasedAt ?? null;
}

/** The same for an order of which only the id is known: events of a facility do not name the merchant. A scan over all shards. */
export async function findErasedAt(db: Queryable, orderId: string): Promise<Date | null> {
  const [row] = await db.query<{ erasedAt: Date | null }>({
    name: "find-erased-at",
    text: `
      select found.erased_at as "erasedAt"
      from merchants m
      cross join lateral (
        select o.personal_data_erased_at as erased_at
        from orders o
        where o.merchant_id = m.id and o.id = $1
        offset 0) as found`,
    values: [orderId],
  });
  return row?.erasedAt ?? null;
}

/**
 * The value of a required text of an erased address, so that the address keeps its form
 * (docs/design/isolation-and-limits.md, "Personal data").
 */
export const ERASED = "erased";

/** An address without the buyer. The country stays: it identifies no person, and charges for shipping depend on it. */
const erasedAddress = (address: ShippingAddress): ShippingAddress => ({
  ...address,
  firstName: ERASED,
  lastName: ERASED,
  name: ERASED,
  company: null,
  address1: ERASED,
  address2: null,
  city: ERASED,
  zip: ERASED,
  stateCode: null,
  phone: null,
});

/** Members of an event's body that become null. */
const ERASED_MEMBERS = ["note", "trackingNumber", "scannedTrackingNumber", "trackingUrl"];

/** The body of an event without the buyer: all else, and the order of the members, stays as it is. */
export function erasedEventBody(body: string): string {
  const event: unknown = JSON.parse(body, (key, value) => {
    if (key === "shippingAddress") return erasedAddress(value as ShippingAddress); // The service wrote the body.
    if (key === "metadata") return {};
    return ERASED_MEMBERS.includes(key) ? null : value;
  });
  return JSON.stringify(event);
}
