import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Locks an owner of endpoints until the transaction ends. The caller knows that it exists. */
export async function lockOwner(tx: Queryable, { merchantId, connectionId }: ConnectionKey): Promise<void> {
  await tx.query({
    name: "lock-webhook-owner",
    text: `
      insert into webhook_owners (merchant_id, connection_id)
      values ($1, $2)
      on conflict (merchant_id, connection_id) do update
        set last_endpoint_number = webhook_owners.last_endpoint_number`,
    values: [merchantId, connectionId],
  });
}

/**
 * The number for a new endpoint of an owner that this transaction has locked. No number is given twice, also after the
 * endpoint has been removed (docs/design/deliveries.md, "Delivery ids").
 */
export async function takeEndpointNumber(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<number> {
  const [row] = await tx.query<{ last_endpoint_number: number }>({
    name: "take-endpoint-number",
    text: `
      update webhook_owners
      set last_endpoint_number = last_endpoint_number + 1
      where merchant_id = $1 and connection_id = $2
      returning last_endpoint_number`,
    values: [merchantId, connectionId],
  });
  if (row === undefined) throw new Error("The locked owner is gone.");
  return row.last_endpoint_number;
}

/** An owner whose events follow the feed of changes, and how far they are published. */
export type FollowingOwner = ConnectionKey & { readonly changesFrom: bigint };

type FollowingRow = ConnectionKeyRow & { changes_from: bigint };

/** Merchants and facilities with endpoints. A scan over all shards of a small index. */
export async function listFollowingOwners(db: Queryable): Promise<FollowingOwner[]> {
  const rows = await searchReachable(db, "list-following-owners", (merchants) =>
    db.query<FollowingRow>({
      name: "list-following-owners",
      text: `
        select o.merchant_id, o.connection_id, o.changes_from
        from webhook_owners o
        where o.changes_from is not null and ($1::uuid[] is null or o.merchant_id = any($1))
          and exists (
            select from webhook_endpoints w
            where w.merchant_id = o.merchant_id and w.connection_id = o.connection_id and w.status <> 'deleted'
              and ($1::uuid[] is null or w.merchant_id = any($1)))
        order by o.merchant_id, o.connection_id`,
      values: [merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), changesFrom: row.changes_from }));
}

/** Locks an owner, and returns how far its events are published. Null: they do not follow the feed. */
export async function lockFollowingOwner(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<bigint | null> {
  const [row] = await tx.query<{ changes_from: bigint | null }>({
    name: "lock-following-owner",
    text: `
      select changes_from
      from webhook_owners
      where merchant_id = $1 and connection_id = $2
      for no key update`,
    values: [merchantId, connectionId],
  });
  return row?.changes_from ?? null;
}

/** Notes from which position on the events of an owner are not published yet. The caller has locked it. */
export async function saveChangesFrom(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  position: bigint,
): Promise<void> {
  await tx.query({
    name: "save-changes-from",
    text: "update webhook_owners set changes_from = $3 where merchant_id = $1 and connection_id = $2",
    values: [merchantId, connectionId, position.toString()],
  });
}

/** Stock of a product at a facility. */
export type StockPlace = { readonly facilityId: string; readonly productId: string };

/** Of these products, the stock that an owner knows to be low. The caller has locked the owner. */
export async function listKnownLow(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  productIds: readonly string[],
): Promise<StockPlace[]> {
  return tx.query<StockPlace>({
    name: "list-known-low-stock",
    text: `
      select facility_id as "facilityId", product_id as "productId"
      from known_low_stock
      where merchant_id = $1 and connection_id = $2 and product_id = any($3::uuid[])`,
    values: [merchantId, connectionId, productIds],
  });
}

/** Notes stock of which an owner now knows that it is low. */
export async function insertKnownLow(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  low: readonly StockPlace[],
): Promise<void> {
  if (low.length === 0) return;
  await tx.query({
    name: "insert-known-low-stock",
    text: `
      insert into known_low_stock (merchant_id, connection_id, product_id, facility_id)
      select $1, $2, low.product_id, low.facility_id
      from unnest($3::uuid[], $4::uuid[]) as low (product_id, facility_id)`,
    values: [merchantId, connectionId, ...placeColumns(low)],
  });
}

/** Forgets stock that is not low any more. */
export async function deleteKnownLow(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  risen: readonly StockPlace[],
): Promise<void> {
  if (risen.length === 0) return;
  await tx.query({
    name: "delete-known-low-stock",
    text: `
      delete from known_low_stock k
      using unnest($3::uuid[], $4::uuid[]) as risen (product_id, facility_id)
      where k.merchant_id = $1 and k.connection_id = $2 and k.product_id = risen.product_id
        and k.facility_id = risen.facility_id`,
    values: [merchantId, connectionId, ...placeColumns(risen)],
  });
}

const placeColumns = (places: readonly StockPlace[]): [productIds: string[], facilityIds: string[]] => [
  places.map(({ productId }) => productId),
  places.map(({ facilityId }) => facilityId),
];

/** Forgets all of an owner, which begins to follow the feed again. */
export async function deleteAllKnownLow(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<void> {
  await tx.query({
    name: "delete-all-known-low-stock",
    text: "delete from known_low_stock where merchant_id = $1 and connection_id = $2",
    values: [merchantId, connectionId],
  });
}
