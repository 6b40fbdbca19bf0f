import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../platform/connection-key.ts";
import { merchantByMerchant, merchantsOf, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { EntryKind, GatewayName } from "./ledger.ts";
import { recordCharges } from "./ledger-sql.ts";

/** How an entry ended at its gateway. */
export type PaymentOutcome = {
  readonly payment: ClaimedPayment;
  readonly outcome: "succeeded" | "failed";
  readonly reference: string | null;
  readonly reason: string | null;
};

type EndedRow = {
  merchant_id: string;
  order_id: string;
  entry_id: string;
  kind: EntryKind;
  attempt: number;
  refund_of: string | null;
  refund_id: string | null;
  amount_minor: bigint;
  request_id: string | null;
  created_at: Date;
};

/**
 * Moves payments of one claim from the due list to the ledger, with their outcomes. Returns those whose claim was still held. The
 * caller has locked the orders.
 */
export async function recordOutcomes(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
  now: Date,
): Promise<PaymentOutcome[]> {
  const ended = await endClaims(tx, outcomes);
  const recorded = outcomes.flatMap((outcome) => {
    const entry = ended.get(outcome.payment.entryId);
    return entry === undefined ? [] : [{ entry, outcome }];
  });
  if (recorded.length === 0) return [];
  await tx.query({
    name: "insert-ledger-entries",
    text: `
      insert into ledger_entries (
        merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at, outcome, gateway,
        gateway_reference, reason, processed_at)
      select merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at, outcome, gateway,
             gateway_reference, reason, $15
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::integer[], $6::uuid[], $7::uuid[], $8::bigint[], $9::text[],
                  $10::timestamptz[], $11::text[], $12::text[], $13::text[], $14::text[])
        as input (merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at, outcome,
                  gateway, gateway_reference, reason)`,
    values: [
      recorded.map(({ entry }) => entry.merchant_id),
      recorded.map(({ entry }) => entry.order_id),
      recorded.map(({ entry }) => entry.entry_id),
      recorded.map(({ entry }) => entry.kind),
      recorded.map(({ entry }) => entry.attempt),
      recorded.map(({ entry }) => entry.refund_of),
      recorded.map(({ entry }) => entry.refund_id),
      recorded.map(({ entry }) => entry.amount_minor.toString()),
      recorded.map(({ entry }) => entry.request_id),
      recorded.map(({ entry }) => entry.created_at),
      recorded.map(({ outcome }) => outcome.outcome),
      recorded.map(({ outcome }) => outcome.payment.gateway),
      recorded.map(({ outcome }) => outcome.reference),
      recorded.map(({ outcome }) => outcome.reason),
      now,
    ],
  });
  recordCharges(
    tx,
    now,
    recorded.map(({ entry, outcome: { outcome } }) => ({
      merchantId: entry.merchant_id,
      orderId: entry.order_id,
      id: entry.entry_id,
      ...(outcome === "failed" && { events: ["charge.failed"] }),
    })),
  );
  return recorded.map(({ outcome }) => outcome);
}

/** Removes payments of one claim from the due list. Returns those whose claim was still held, by their entries. */
async function endClaims(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
): Promise<ReadonlyMap<string, EndedRow>> {
  const [first] = outcomes;
  if (first === undefined) return new Map();
  const rows = await tx.query<EndedRow>({
    name: "end-payment-claims",
    text: `
      delete from due_payments d
      -- The subqueries hide how long the lists are: for long ones the planner would read all of a table with some
      -- thousand rows.
      using unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::uuid[]))
        as ended (merchant_id, order_id, entry_id)
      where d.merchant_id = ended.merchant_id and d.order_id = ended.order_id and d.entry_id = ended.entry_id
        and d.claim_id = $4 and ($5::uuid[] is null or d.merchant_id = any($5))
      returning d.merchant_id, d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor, d.request_id,
                d.created_at`,
    values: [
      outcomes.map(({ payment }) => payment.merchantId),
      outcomes.map(({ payment }) => payment.orderId),
      outcomes.map(({ payment }) => payment.entryId),
      first.payment.claimId,
      await merchantsOf(
        tx,
        outcomes.map(({ payment }) => payment),
      ),
    ],
  });
  return new Map(rows.map((row) => [row.entry_id, row]));
}

/** When a payment without an outcome is checked again. */
export type Postponement = {
  readonly payment: ClaimedPayment;
  readonly dueAt: Date;
  /** The gateway's id of the payment. Null if unknown. */
  readonly reference: string | null;
};

/** Ends the claims of payments and postpones them. A payment whose gateway has sent an event stays due. */
export async function postponePayments(tx: Queryable, postponements: readonly Postponement[]): Promise<void> {
  if (postponements.length === 0) return;
  await tx.query({
    name: "postpone-payments",
    text: `
      update due_payments d
      set leased_until = null, due_at = case when d.recheck_requested then d.due_at else input.due_at end,
          gateway_reference = coalesce(input.reference, d.gateway_reference)
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[])
        as input (merchant_id, order_id, entry_id, claim_id, due_at, reference)
      where d.merchant_id = input.merchant_id and d.order_id = input.order_id and d.entry_id = input.entry_id
        and d.claim_id = input.claim_id and ($7::uuid[] is null or d.merchant_id = any($7))`,
    values: [
      postponements.map(({ payment }) => payment.merchantId),
      postponements.map(({ payment }) => payment.orderId),
      postponements.map(({ payment }) => payment.entryId),
      postponements.map(({ payment }) => payment.claimId),
      postponements.map(({ dueAt }) => dueAt),
      postponements.map(({ reference }) => reference),
      await merchantsOf(
        tx,
        postponements.map(({ payment }) => payment),
      ),
    ],
  });
}

/** Makes an entry due now, because its gateway has sent an event. Returns false if it is not in progress. */
export async function requestRecheck(
  db: Queryable,
  { merchantId, orderId, entryId }: { merchantId: string; orderId: string; entryId: string },
  now: Date,
): Promise<boolean> {
  const rows = await db.query({
    name: "request-payment-recheck",
    text: `
      update due_payments
      set recheck_requested = true, due_at = least(due_at, $4)
      where merchant_id = $1 and order_id = $2 and entry_id = $3 and attempt_count > 0
      returning entry_id`,
    values: [merchantId, orderId, entryId, now],
  });
  return rows.length > 0;
}

/** True if any of these attempts of an order waits for its time, so that `bringForward` changes something. */
export async function hasScheduled(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
  entryIds: readonly string[],
  now: Date,
): Promise<boolean> {
  if (entryIds.length === 0) return false;
  const rows = await tx.query({
    name: "has-scheduled-payments",
    text: `
      select entry_id
      from due_payments
      where merchant_id = $1 and connection_id = $2 and order_id = $3 and entry_id = any($4::uuid[])
        and attempt_count = 0 and due_at > $5
      limit 1`,
    values: [connection.merchantId, connection.connectionId, orderId, entryIds, now],
  });
  return rows.length > 0;
}

/** Makes scheduled attempts of an order due now. The caller has locked the order. */
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

/**
 * The order at which a batch of a merchant's due payments ends that begins after a position, in the order of their ids. Null if
 * there are none. By the primary key.
 */
export async function findDueAfter(
  db: Queryable,
  merchantId: string,
  position: string,
  limit: number,
): Promise<string | null> {
  const [row] = await db.query<{ order_id: string }>({
    name: "find-due-payments-after",
    text: `
      select page.order_id
      from (
        select order_id
        from due_payments
        where merchant_id = $1 and order_id > $2
        order by order_id
        limit $3) as page
      order by page.order_id desc
      limit 1`,
    values: [merchantId, position, limit],
  });
  return row?.order_id ?? null;
}

/** Makes the scheduled attempts of a merchant's orders due now, of those after a position up to another one. */
export async function bringForwardUpTo(
  tx: Queryable,
  merchantId: string,
  position: string,
  end: string,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "bring-payments-forward-up-to",
    text: `
      update due_payments
      set due_at = $4
      where merchant_id = $1 and order_id > $2 and order_id <= $3 and attempt_count = 0 and due_at > $4`,
    values: [merchantId, position, end, now],
  });
}

/** Connections with payments due at a gateway, the longest waiting first. A scan over all shards. */
export async function listPayers(db: Queryable, gateway: GatewayName, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-payers", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-payers",
      text: `
        select c.id as connection_id, c.merchant_id
        from connections c
        left join stripe_methods m on m.merchant_id = c.merchant_id and m.ended_at is null
          and ($3::uuid[] is null or m.merchant_id = any($3))
        cross join lateral (
          select d.due_at
          from due_payments d
          where d.merchant_id = c.merchant_id and d.connection_id = c.id and ($3::uuid[] is null or d.merchant_id = any($3))
            and d.due_at <= $1 and (d.leased_until is null or d.leased_until <= $1)
            and coalesce(d.gateway, case when m.id is null then 'account' else 'stripe' end) = $2
          order by d.due_at
          limit 1) as due
        where ($3::uuid[] is null or c.merchant_id = any($3))
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
            and ($8::uuid is null or m.merchant_id = $8)
        ), due as (
          select payer.merchant_id, payer.method_id, claimable.row_position
          from payer
          cross join lateral (
            select d.ctid as row_position
            from due_payments d
            where d.merchant_id = payer.merchant_id and d.connection_id = payer.connection_id and d.due_at <= $3
              and (d.leased_until is null or d.leased_until <= $3)
              and coalesce(d.gateway, case when payer.method_id is null then 'account' else 'stripe' end) = $5
              and ($8::uuid is null or d.merchant_id = $8)
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
            and ($8::uuid is null or d.merchant_id = $8)
          returning d.merchant_id, d.connection_id, d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.amount_minor,
                    d.due_at, d.attempt_count, d.first_attempted_at, d.gateway_reference, d.stripe_method_id
        )
        select c.merchant_id, c.connection_id, c.order_id, c.entry_id, c.kind, c.attempt, c.amount_minor, o.currency,
               c.attempt_count, c.first_attempted_at, c.gateway_reference, x.gateway_reference as charge_reference, m.customer_id,
               m.payment_method_id
        from claimed c
        join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
        left join ledger_entries x on x.merchant_id = c.merchant_id and x.order_id = c.order_id and x.id = c.refund_of
          and ($8::uuid is null or x.merchant_id = $8)
        left join stripe_methods m on m.merchant_id = c.merchant_id and m.id = c.stripe_method_id
          and ($8::uuid is null or m.merchant_id = $8)
        where ($8::uuid is null or o.merchant_id = $8)
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
      where d.due_at <= $1 and (d.leased_until is null or d.leased_until <= $1)`,
    values: [now],
  });
  return row?.since ?? null;
}
