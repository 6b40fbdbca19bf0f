import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { EntryKind, GatewayName } from "./ledger.ts";

/** A connection with payments to be sent to a gateway. */
export type Payer = ConnectionKey & { readonly gateway: GatewayName };

/** Connections with something due at a gateway, the one that waits longest first. A scan over all shards. */
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
        where d.merchant_id = c.merchant_id and d.connection_id = c.id and d.due_at <= $1 and (d.leased_until is null or d.leased_until <= $1)
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

/** An entry that this worker asks a gateway about. */
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
  /** Names the claim, which the payments of a batch share. */
  readonly claimId: string;
  readonly firstAttemptedAt: Date;
  /** How the gateway names what an earlier try has begun; null when that is not known. */
  readonly reference: string | null;
  /** Of a refund: how the gateway names the charge that it gives back. */
  readonly chargeReference: string | null;
  /** Of a charge at Stripe: what it is charged to, the same at every try. */
  readonly stripeMethod: { readonly customerId: string; readonly paymentMethodId: string } | null;
};

/**
 * Claims what is due the longest at one gateway; nobody else sends it before `leasedUntil`. The first claim decides
 * for ever which gateway, and which method there, an entry belongs to; so it goes by the merchant's method in use now,
 * which may no longer be the one at the look for payers. Uses due_payments_due_idx.
 */
export async function claimPayments(
  db: Queryable,
  { connectionId, merchantId, gateway }: Payer,
  { claimId, now, leasedUntil, limit }: { claimId: string; now: Date; leasedUntil: Date; limit: number },
): Promise<ClaimedPayment[]> {
  const rows = await db.query<{
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
  }>({
    name: "claim-payments",
    text: `
      with in_use as materialized (
        select id
        from stripe_methods
        where merchant_id = $1 and ended_at is null
      ), due as (
        select d.ctid as place
        from due_payments d
        where d.merchant_id = $1 and d.connection_id = $2 and d.due_at <= $3 and (d.leased_until is null or d.leased_until <= $3)
          and coalesce(d.gateway, case when exists (select from in_use) then 'stripe' else 'account' end) = $5
        order by d.due_at
        limit $6
        for update skip locked -- Another worker's claims are passed over, not waited for.
      ), claimed as (
        update due_payments d
        set attempt_count = d.attempt_count + 1, claim_id = $7, leased_until = $4, recheck_requested = false,
            first_attempted_at = coalesce(d.first_attempted_at, $3), gateway = $5,
            stripe_method_id = case when d.gateway is null then (select id from in_use) else d.stripe_method_id end
        from due
        where d.merchant_id = $1 and d.ctid = due.place -- Locked just before, so it has not moved.
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

/** How an entry ended at its gateway. */
export type PaymentOutcome = {
  readonly payment: ClaimedPayment;
  readonly outcome: "succeeded" | "failed";
  readonly reference: string | null;
  readonly reason: string | null;
};

/**
 * Takes payments of one claim off what is due; answers those whose claim still stood. By lists, and not by a join: the
 * table is empty at one moment and full at the next, and a plan made for the one would be quadratic in the other.
 */
export async function endClaims(
  tx: Queryable,
  connection: ConnectionKey,
  settlements: readonly PaymentOutcome[],
): Promise<PaymentOutcome[]> {
  const [first] = settlements;
  if (first === undefined) return [];
  const rows = await tx.query<{ entry_id: string }>({
    name: "end-payment-claims",
    text: `
      delete from due_payments
      where merchant_id = $1 and connection_id = $2 and order_id = any($3::uuid[]) and entry_id = any($4::uuid[]) and claim_id = $5
      returning entry_id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      settlements.map(({ payment }) => payment.orderId),
      settlements.map(({ payment }) => payment.entryId),
      first.payment.claimId,
    ],
  });
  const ended = new Set(rows.map((row) => row.entry_id));
  return settlements.filter(({ payment }) => ended.has(payment.entryId));
}

/** Records outcomes of one connection, for payments that have been taken off what is due in this transaction. */
export async function insertOutcomes(
  tx: Queryable,
  connection: ConnectionKey,
  settlements: readonly PaymentOutcome[],
  now: Date,
): Promise<void> {
  if (settlements.length === 0) return;
  await tx.query({
    name: "insert-ledger-outcomes",
    text: `
      insert into ledger_outcomes (
        merchant_id, order_id, entry_id, outcome, gateway, gateway_reference, reason, created_at)
      select $1, order_id, entry_id, outcome, gateway, reference, reason, $8
      from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
        as told (order_id, entry_id, outcome, gateway, reference, reason)`,
    values: [
      connection.merchantId,
      settlements.map(({ payment }) => payment.orderId),
      settlements.map(({ payment }) => payment.entryId),
      settlements.map(({ outcome }) => outcome),
      settlements.map(({ payment }) => payment.gateway),
      settlements.map(({ reference }) => reference),
      settlements.map(({ reason }) => reason),
      now,
    ],
  });
}

/** When a payment without an outcome is to be looked at again. */
export type Postponement = {
  readonly payment: ClaimedPayment;
  readonly dueAt: Date;
  /** How the gateway names it, where it has said so. */
  readonly reference: string | null;
};

/** Lets payments of one connection go until later; at once if their gateway has told of news meanwhile. */
export async function postponePayments(
  tx: Queryable,
  connection: ConnectionKey,
  postponements: readonly Postponement[],
): Promise<void> {
  if (postponements.length === 0) return;
  await tx.query({
    name: "postpone-payments",
    text: `
      update due_payments d
      set leased_until = null, due_at = case when d.recheck_requested then d.due_at else told.due_at end,
          gateway_reference = coalesce(told.reference, d.gateway_reference)
      from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::text[])
        as told (order_id, entry_id, claim_id, due_at, reference)
      where d.merchant_id = $1 and d.connection_id = $2 and d.order_id = any($3::uuid[]) -- A list as well, for the reason told above.
        and d.order_id = told.order_id and d.entry_id = told.entry_id and d.claim_id = told.claim_id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      postponements.map(({ payment }) => payment.orderId),
      postponements.map(({ payment }) => payment.entryId),
      postponements.map(({ payment }) => payment.claimId),
      postponements.map(({ dueAt }) => dueAt),
      postponements.map(({ reference }) => reference),
    ],
  });
}

/** Makes an entry due now because its gateway has told of news; answers false when nothing of it is under way. */
export async function requestRecheck(
  db: Queryable,
  { merchantId, orderId, entryId }: { merchantId: string; orderId: string; entryId: string },
  now: Date,
): Promise<boolean> {
  const rows = await db.query({
    name: "ask-payment-recheck",
    text: `
      update due_payments
      set recheck_requested = true, due_at = least(due_at, $4)
      where merchant_id = $1 and order_id = $2 and entry_id = $3 and attempt_count > 0
      returning entry_id`,
    values: [merchantId, orderId, entryId, now],
  });
  return rows.length > 0;
}

/** Makes scheduled attempts of an order due now. The caller holds the order's lock. */
export async function bringForward(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
  entryIds: readonly string[],
  now: Date,
): Promise<void> {
  if (entryIds.length === 0) return;
  await tx.query({
    name: "bring-payments-forward",
    text: `
      update due_payments
      set due_at = $5
      where merchant_id = $1 and connection_id = $2 and order_id = $3 and entry_id = any($4::uuid[]) and attempt_count = 0 and due_at > $5`,
    values: [connection.merchantId, connection.connectionId, orderId, entryIds, now],
  });
}

/** Makes every scheduled attempt of a merchant's orders due now. A scan over all shards. */
export async function bringMerchantForward(db: Queryable, merchantId: string, now: Date): Promise<void> {
  await db.query({
    name: "bring-merchant-forward",
    text: `
      update due_payments d
      set due_at = $2
      where d.merchant_id = $1 and d.attempt_count = 0 and d.due_at > $2`,
    values: [merchantId, now],
  });
}
