import type { LedgerEntry } from "../ledger/ledger.ts";
import type { Refund } from "../ledger/refunds.ts";
import type { Actor, TimelineEntry } from "../lifecycle/applied-transition.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import { merchantByMerchant, merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Money } from "../platform/money.ts";
import type { LineCancellation } from "./cancellations/cancellations-sql.ts";
import { type OrderOwner, type OrderOwnerRow, type OrderPrices, toOrderOwner } from "./owners-sql.ts";
import type { OrderReturn } from "./returns/returns-sql.ts";

/** Locks orders so that nothing of them changes, or is erased, before the transaction ends. */
export async function shareOrders(
  tx: Queryable,
  keys: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<void> {
  await merchantByMerchant(tx, keys, (own, merchantId) =>
    tx.query({
      name: "share-orders",
      text: `
        select o.id
        from orders o
        where o.merchant_id = any($1::uuid[]) and o.id = any($2::uuid[]) and ($3::uuid is null or o.merchant_id = $3)
        order by o.merchant_id, o.id
        for share`,
      values: [[...new Set(own.map((key) => key.merchantId))], own.map(({ id }) => id), merchantId],
    }),
  );
}

/** Orders by their keys, with their owners. Those that do not exist are left out. */
export async function readListedByKey(
  db: Queryable,
  keys: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<(OrderOwner & { readonly id: string; readonly goods: Money; readonly changedAt: Date })[]> {
  if (keys.length === 0) return [];
  const rows = await db.query<OrderOwnerRow & { goods_minor: bigint; currency: string; changed_at: Date }>({
    name: "read-listed-by-key",
    text: `
      select found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
             c.name as connection_name, m.id as merchant_id, m.name as merchant_name
      from unnest($1::uuid[], $2::uuid[]) as k (merchant_id, id)
      join orders found on found.merchant_id = k.merchant_id and found.id = k.id
      join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id
      join merchants m on m.id = found.merchant_id
      where ($3::uuid[] is null or found.merchant_id = any($3)) and ($3::uuid[] is null or c.merchant_id = any($3))
        and ($3::uuid[] is null or m.id = any($3))`,
    values: [keys.map(({ merchantId }) => merchantId), keys.map(({ id }) => id), await merchantsOf(db, keys)],
  });
  return rows.map((row) => ({
    ...toOrderOwner(row),
    goods: { minor: row.goods_minor, currency: row.currency },
    changedAt: row.changed_at,
  }));
}

/** All that the back office shows of an order beside the order itself. Lists are oldest first. */
export type OrderDetails = {
  readonly prices: OrderPrices;
  readonly charges: readonly LedgerEntry[];
  readonly refunds: readonly Refund[];
  readonly cancellations: readonly LineCancellation[];
  readonly returns: readonly OrderReturn[];
  readonly timeline: readonly TimelineEntry[];
  /** When the personal data of the buyer was erased; null if it was not. */
  readonly erasedAt: Date | null;
  /** When anything that the back office shows of the order last changed. */
  readonly changedAt: Date;
  /** The request that created the order; null if it is not known. */
  readonly requestId: string | null;
};

/** JSON has times and large amounts as texts, and no nested actors. */
type Stored<Detail> = Omit<Detail, "createdAt" | "amountMinor" | "actor" | "currency"> & {
  readonly createdAt: string;
};
type StoredAmount = { readonly amountMinor: string };
type StoredActor = {
  readonly actorKind: Actor["kind"];
  readonly actorName: string | null;
  readonly actorId: string | null;
};

type DetailsRow = {
  goods_minor: bigint;
  currency: string;
  erased_at: Date | null;
  changed_at: Date;
  request_id: string | null;
  lines: { id: string; sku: string; name: string; unitPriceMinor: string }[];
  charges: (Stored<LedgerEntry> & StoredAmount)[] | null;
  refunds: (Stored<Refund> & StoredAmount & StoredActor)[] | null;
  cancellations: (Stored<LineCancellation> & StoredActor)[] | null;
  returns: (Stored<OrderReturn> & StoredActor)[] | null;
  timeline: (Stored<TimelineEntry> & StoredActor)[] | null;
};

/** Reads the details of an order in one statement, so that they are of one moment. A timeline has at most a few thousand entries. */
export async function readOrderDetails(
  db: Queryable,
  { merchantId, connectionId, id }: OrderKey,
): Promise<OrderDetails> {
  const [row] = await db.query<DetailsRow>({
    name: "read-order-details",
    text: `
      select o.goods_minor, o.currency, o.personal_data_erased_at as erased_at, o.changed_at,
             (select r.request_id from order_requests r where r.merchant_id = $1 and r.order_id = $3) as request_id,
             (select json_agg(line)
              from (select l.id, p.sku, p.name, l.unit_price_minor::text as "unitPriceMinor"
                    from order_lines l
                    join products p on p.merchant_id = $1 and p.id = l.product_id
                    where l.merchant_id = $1 and l.order_id = $3) as line) as lines,
             (select json_agg(charge)
              from (select e.id, e.kind, e.attempt, e.refund_of as "refundOf", e.refund_id as "refundId",
                           e.amount_minor::text as "amountMinor", e.outcome as status, e.gateway,
                           e.reason as "failureReason", e.request_id as "requestId", e.created_at as "createdAt"
                    from ledger_entries e
                    where e.merchant_id = $1 and e.order_id = $3
                    union all
                    select d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor::text, 'pending', null, null,
                           d.request_id, d.created_at
                    from due_payments d
                    where d.merchant_id = $1 and d.order_id = $3
                    order by id) as charge) as charges,
             (select json_agg(refund)
              from (select f.id, f.amount_minor::text as "amountMinor", f.reason, f.note,
                           f.reference, f.actor_kind as "actorKind", f.actor_name as "actorName",
                           f.actor_id as "actorId", f.created_at as "createdAt",
                           (select coalesce(json_agg(json_build_object('lineId', u.line_id, 'quantity', u.quantity)), '[]')
                            from unnest(f.line_ids, f.quantities) as u (line_id, quantity)) as lines
                    from refunds f
                    where f.merchant_id = $1 and f.order_id = $3
                    order by f.id) as refund) as refunds,
             (select json_agg(canceled)
              from (select c.id, c.reason, c.note, c.reference, c.refund_id as "refundId",
                           c.actor_kind as "actorKind", c.actor_name as "actorName", c.actor_id as "actorId",
                           c.created_at as "createdAt"
                    from line_cancellations c
                    where c.merchant_id = $1 and c.order_id = $3
                    order by c.id) as canceled) as cancellations,
             (select json_agg(returned)
              from (select r.id, r.reason, r.condition, r.note, r.restocked, r.reference, r.refund_id as "refundId",
                           r.actor_kind as "actorKind", r.actor_name as "actorName", r.actor_id as "actorId",
                           r.created_at as "createdAt",
                           (select json_agg(json_build_object('lineId', u.line_id, 'quantity', u.quantity)
                                            order by u.line_id)
                            from order_return_lines u
                            where u.merchant_id = $1 and u.order_id = $3 and u.return_id = r.id) as lines
                    from order_returns r
                    where r.merchant_id = $1 and r.order_id = $3
                    order by r.id) as returned) as returns,
             (select json_agg(entry)
              from (select t.id, t.operation, t.actor_kind as "actorKind", t.actor_name as "actorName",
                           t.actor_id as "actorId", t.request_id as "requestId", t.detail,
                           t.shipment_id as "shipmentId", t.status, t.hold_reasons as "holdReasons",
                           t.created_at as "createdAt"
                    from timeline_entries t
                    where t.merchant_id = $1 and t.order_id = $3
                    order by t.id) as entry) as timeline
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $3`,
    values: [merchantId, connectionId, id],
  });
  if (row === undefined) throw new Error("The order was erased while it was read.");
  const { currency } = row;
  return {
    prices: {
      goodsMinor: row.goods_minor,
      currency,
      lines: new Map(
        row.lines.map(({ id, sku, name, unitPriceMinor }) => [
          id,
          { sku, name, unitPriceMinor: BigInt(unitPriceMinor) },
        ]),
      ),
    },
    charges: (row.charges ?? []).map((charge) => ({ ...charge, ...amountAndTime(charge), currency })),
    refunds: (row.refunds ?? []).map((refund) => ({ ...withActor(refund), ...amountAndTime(refund) })),
    cancellations: (row.cancellations ?? []).map(withActor),
    returns: (row.returns ?? []).map(withActor),
    timeline: (row.timeline ?? []).map(withActor),
    erasedAt: row.erased_at,
    changedAt: row.changed_at,
    requestId: row.request_id,
  };
}

const amountAndTime = ({ amountMinor, createdAt }: StoredAmount & { readonly createdAt: string }) => ({
  amountMinor: BigInt(amountMinor),
  createdAt: new Date(createdAt),
});

const withActor = <Detail extends StoredActor & { readonly createdAt: string }>({
  actorKind,
  actorName,
  actorId,
  createdAt,
  ...detail
}: Detail) => ({
  ...detail,
  actor: { kind: actorKind, name: actorName, id: actorId },
  createdAt: new Date(createdAt),
});
