import { amongMerchants } from "../distribution/among-merchants.ts";
import { merchantByMerchant, ofMerchant } from "../distribution/merchant-by-merchant.ts";
import { searchReachable } from "../distribution/reachable-merchants.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { EntryKind, GatewayName } from "./ledger.ts";

/** SQL condition: the payment `d` can be claimed at a time. */
const claimableAt = (now: string): string =>
  `d.due_at <= ${now} and (d.leased_until is null or d.leased_until <= ${now})`;

/** Connections with payments due at a gateway, the longest waiting first. A scan over all shards. */
export async function listPayers(db: Queryable, gateway: GatewayName, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-payers", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-payers",
      text: `
        select c.id as connection_id, c.merchant_id
        from connections c
        left join stripe_methods m on m.merchant_id = c.merchant_id and m.ended_at is null
          and ${amongMerchants("$3", "m.merchant_id")}
        cross join lateral (
          select d.due_at
          from due_payments d
          where d.merchant_id = c.merchant_id and d.connection_id = c.id and ${amongMerchants("$3", "d.merchant_id")}
            and ${claimableAt("$1")}
            and coalesce(d.gateway, case when m.id is null then 'account' else 'stripe' end) = $2
          order by d.due_at
          limit 1) as due
        where ${amongMerchants("$3", "c.merchant_id")}
        order by due.due_at`,
      values: [now, gateway, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** An entry that this worker sends to a gateway. */
export type ClaimedPayment = {
  readonly connectionId: string;
  readonly orderId: string;
  readonly entryId: string;
  readonly merchantId: string;
  readonly gateway: GatewayName;
  readonly kind: EntryKind;
  /** The attempt at the charge or the refund; 1 is the first. */
  readonly attempt: number;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** How often the entry has been claimed, this claim included. */
  readonly attemptCount: number;
  /** The id of the claim, which the payments of a batch share. */
  readonly claimId: string;
  readonly firstAttemptedAt: Date;
  /** The gateway's id of the payment that an earlier attempt started. Null if unknown. */
  readonly reference: string | null;
  /** Of a refund: the gateway's id of the charge that it returns. */
  readonly chargeReference: string | null;
  /** Of a charge at Stripe: the payment method, the same for every attempt. */
  readonly stripeMethod: { readonly customerId: string; readonly paymentMethodId: string } | null;
};

type ClaimedRow = ConnectionKeyRow & {
  order_id: string;
  entry_id: string;
  kind: EntryKind;
  attempt: number;
  amount_minor: bigint;
  currency: string;
  attempt_count: number;
  first_attempted_at: Date;
  gateway_reference: string | null;
  charge_reference: string | null;
  customer_id: string | null;
  payment_method_id: string | null;
};

type Claim = {
  readonly claimId: string;
  readonly now: Date;
  readonly leasedUntil: Date;
  /** The largest number of payments of each connection. */
  readonly share: number;
};

/**
 * Claims payments of these connections at one gateway, of each its share of those that have been due longest; no other
 * worker sends them before `leasedUntil`. The first claim decides permanently which gateway, and which method there, an
 * entry belongs to. So it uses the merchant's current method, which may differ from the one seen when payers were
 * listed. Uses due_payments_due_idx.
 */
export async function claimPayments(
  tx: Queryable,
  gateway: GatewayName,
  payers: readonly ConnectionKey[],
  { claimId, now, leasedUntil, share }: Claim,
): Promise<ClaimedPayment[]> {
  const rows = await merchantByMerchant(tx, payers, (own, merchantId) =>
    tx.query<ClaimedRow>({
      name: "claim-payments",
      text: `
        with payer as materialized (
          select listed.merchant_id, listed.connection_id, m.id as method_id
          from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
          left join stripe_methods m on m.merchant_id = listed.merchant_id and m.ended_at is null
            and ${ofMerchant("$8", "m.merchant_id")}
        ), due as (
          select payer.merchant_id, payer.method_id, claimable.row_position
          from payer
          cross join lateral (
            select d.ctid as row_position
            from due_payments d
            where d.merchant_id = payer.merchant_id and d.connection_id = payer.connection_id and ${claimableAt("$3")}
              and coalesce(d.gateway, case when payer.method_id is null then 'account' else 'stripe' end) = $5
              and ${ofMerchant("$8", "d.merchant_id")}
            order by d.due_at
            limit $6
            for update skip locked) as claimable -- Another worker's claims are skipped, not waited for.
        ), claimed as (
          update due_payments d
          set attempt_count = d.attempt_count + 1, claim_id = $7, leased_until = $4, recheck_requested = false,
              first_attempted_at = coalesce(d.first_attempted_at, $3), gateway = $5,
              stripe_method_id = case when d.gateway is null then due.method_id else d.stripe_method_id end
          from due
          where d.merchant_id = due.merchant_id and d.ctid = due.row_position -- Locked just before, so it has not moved.
            and ${ofMerchant("$8", "d.merchant_id")}
          returning d.merchant_id, d.connection_id, d.order_id, d.entry_id, d.due_at, d.attempt_count, d.first_attempted_at,
                    d.gateway_reference, d.stripe_method_id
        )
        select c.merchant_id, c.connection_id, c.order_id, c.entry_id, e.kind, e.attempt, e.amount_minor, o.currency,
               c.attempt_count, c.first_attempted_at, c.gateway_reference, x.gateway_reference as charge_reference, m.customer_id,
               m.payment_method_id
        from claimed c
        join ledger_entries e on e.merchant_id = c.merchant_id and e.order_id = c.order_id and e.id = c.entry_id
        join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
        left join ledger_outcomes x on x.merchant_id = c.merchant_id and x.order_id = c.order_id and x.entry_id = e.refund_of
          and ${ofMerchant("$8", "x.merchant_id")}
        left join stripe_methods m on m.merchant_id = c.merchant_id and m.id = c.stripe_method_id
          and ${ofMerchant("$8", "m.merchant_id")}
        where ${ofMerchant("$8", "e.merchant_id")}
        order by c.due_at, c.entry_id`,
      values: [...connectionColumns(own), now, leasedUntil, gateway, share, claimId, merchantId],
    }),
  );
  return rows.map((row) => toClaimed(row, gateway, claimId));
}

const toClaimed = (row: ClaimedRow, gateway: GatewayName, claimId: string): ClaimedPayment => ({
  ...toConnectionKey(row),
  gateway,
  orderId: row.order_id,
  entryId: row.entry_id,
  kind: row.kind,
  attempt: row.attempt,
  amountMinor: row.amount_minor,
  currency: row.currency,
  attemptCount: row.attempt_count,
  claimId,
  firstAttemptedAt: row.first_attempted_at,
  reference: row.gateway_reference,
  chargeReference: row.charge_reference,
  stripeMethod:
    row.customer_id === null || row.payment_method_id === null
      ? null
      : { customerId: row.customer_id, paymentMethodId: row.payment_method_id },
});

/** When the oldest payment that can be claimed now became due. Null if there is none. A scan over all shards. */
export async function readOldestDuePayment(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-due-payment",
    text: `
      select min(d.due_at) as since
      from due_payments d
      where ${claimableAt("$1")}`,
    values: [now],
  });
  return row?.since ?? null;
}
