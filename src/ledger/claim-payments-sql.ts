import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { EntryKind, GatewayName } from "./ledger.ts";

/** A connection with payments to be sent to a gateway. */
export type Payer = ConnectionKey & { readonly gateway: GatewayName };

/** SQL condition: the payment `d` can be claimed at a time. */
const claimableAt = (now: string): string =>
  `d.due_at <= ${now} and (d.leased_until is null or d.leased_until <= ${now})`;

/** Connections with payments due at a gateway, the longest waiting first. A scan over all shards. */
export async function listPayers(db: Queryable, gateway: GatewayName, now: Date): Promise<Payer[]> {
  const rows = await db.query<{ connection_id: string; merchant_id: string }>({
    name: "list-payers",
    text: `
      select c.id as connection_id, c.merchant_id
      from connections c
      left join stripe_methods m on m.merchant_id = c.merchant_id and m.ended_at is null
      cross join lateral (
        select d.due_at
        from due_payments d
        where d.merchant_id = c.merchant_id and d.connection_id = c.id and ${claimableAt("$1")}
          and coalesce(d.gateway, case when m.id is null then 'account' else 'stripe' end) = $2
        order by d.due_at
        limit 1) as due
      order by due.due_at`,
    values: [now, gateway],
  });
  return rows.map((row) => ({
    connectionId: row.connection_id,
    merchantId: row.merchant_id,
    gateway,
  }));
}

/** An entry that this worker sends to a gateway. */
export type ClaimedPayment = {
  readonly connectionId: string;
  readonly orderId: string;
  readonly entryId: string;
  readonly merchantId: string;
  readonly gateway: GatewayName;
  readonly kind: EntryKind;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** Claims so far, this one among them. */
  readonly attemptCount: number;
  /** The id of the claim, which the payments of a batch share. */
  readonly claimId: string;
  readonly firstAttemptedAt: Date;
  /** The gateway's id of the payment that an earlier attempt started; null if unknown. */
  readonly reference: string | null;
  /** Of a refund: the gateway's id of the charge that it returns. */
  readonly chargeReference: string | null;
  /** Of a charge at Stripe: the payment method, the same for every attempt. */
  readonly stripeMethod: { readonly customerId: string; readonly paymentMethodId: string } | null;
};

type ClaimedRow = {
  order_id: string;
  entry_id: string;
  kind: EntryKind;
  amount_minor: bigint;
  currency: string;
  attempt_count: number;
  first_attempted_at: Date;
  gateway_reference: string | null;
  charge_reference: string | null;
  customer_id: string | null;
  payment_method_id: string | null;
};

/**
 * Claims the payments that have been due longest at one gateway; no other worker sends them before `leasedUntil`. The
 * first claim decides permanently which gateway, and which method there, an entry belongs to. So it uses the merchant's
 * current method, which may differ from the one seen when payers were listed. Uses due_payments_due_idx.
 */
export async function claimPayments(
  db: Queryable,
  { connectionId, merchantId, gateway }: Payer,
  { claimId, now, leasedUntil, limit }: { claimId: string; now: Date; leasedUntil: Date; limit: number },
): Promise<ClaimedPayment[]> {
  const rows = await db.query<ClaimedRow>({
    name: "claim-payments",
    text: `
      with in_use as materialized (
        select id
        from stripe_methods
        where merchant_id = $1 and ended_at is null
      ), due as (
        select d.ctid as row_position
        from due_payments d
        where d.merchant_id = $1 and d.connection_id = $2 and ${claimableAt("$3")}
          and coalesce(d.gateway, case when exists (select from in_use) then 'stripe' else 'account' end) = $5
        order by d.due_at
        limit $6
        for update skip locked -- Another worker's claims are skipped, not waited for.
      ), claimed as (
        update due_payments d
        set attempt_count = d.attempt_count + 1, claim_id = $7, leased_until = $4, recheck_requested = false,
            first_attempted_at = coalesce(d.first_attempted_at, $3), gateway = $5,
            stripe_method_id = case when d.gateway is null then (select id from in_use) else d.stripe_method_id end
        from due
        where d.merchant_id = $1 and d.ctid = due.row_position -- Locked just before, so it has not moved.
        returning d.order_id, d.entry_id, d.due_at, d.attempt_count, d.first_attempted_at, d.gateway_reference, d.stripe_method_id
      )
      select c.order_id, c.entry_id, e.kind, e.amount_minor, o.currency, c.attempt_count, c.first_attempted_at, c.gateway_reference,
             x.gateway_reference as charge_reference, m.customer_id, m.payment_method_id
      from claimed c
      join ledger_entries e on e.merchant_id = $1 and e.order_id = c.order_id and e.id = c.entry_id
      join orders o on o.merchant_id = $1 and o.id = c.order_id
      left join ledger_outcomes x on x.merchant_id = $1 and x.order_id = c.order_id and x.entry_id = e.refund_of
      left join stripe_methods m on m.merchant_id = $1 and m.id = c.stripe_method_id
      order by c.due_at, c.entry_id`,
    values: [merchantId, connectionId, now, leasedUntil, gateway, limit, claimId],
  });
  return rows.map((row) => ({
    connectionId,
    merchantId,
    gateway,
    orderId: row.order_id,
    entryId: row.entry_id,
    kind: row.kind,
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
  }));
}

/** When the oldest payment that could be claimed now was due; null without one. A scan over all shards. */
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
