import { amongMerchants, merchantsOf } from "../distribution/among-merchants.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { ClaimedPayment } from "./claim-payments-sql.ts";

/** How an entry ended at its gateway. */
export type PaymentOutcome = {
  readonly payment: ClaimedPayment;
  readonly outcome: "succeeded" | "failed";
  readonly reference: string | null;
  readonly reason: string | null;
};

/** Removes payments of one claim from the due list. Returns those whose claim was still held. */
export async function endClaims(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
): Promise<PaymentOutcome[]> {
  const [first] = outcomes;
  if (first === undefined) return [];
  const rows = await tx.query<{ entry_id: string }>({
    name: "end-payment-claims",
    text: `
      delete from due_payments d
      -- The subqueries hide how long the lists are: for long ones the planner would read all of a table with some
      -- thousand rows.
      using unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::uuid[]))
        as ended (merchant_id, order_id, entry_id)
      where d.merchant_id = ended.merchant_id and d.order_id = ended.order_id and d.entry_id = ended.entry_id
        and d.claim_id = $4 and ${amongMerchants("$5", "d.merchant_id")}
      returning d.entry_id`,
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
  const ended = new Set(rows.map((row) => row.entry_id));
  return outcomes.filter(({ payment }) => ended.has(payment.entryId));
}

/** Records outcomes of payments whose claims this transaction has ended. */
export async function insertOutcomes(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
  now: Date,
): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query({
    name: "insert-ledger-outcomes",
    text: `
      insert into ledger_outcomes (
        merchant_id, order_id, entry_id, outcome, gateway, gateway_reference, reason, created_at)
      select merchant_id, order_id, entry_id, outcome, gateway, reference, reason, $8
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
        as input (merchant_id, order_id, entry_id, outcome, gateway, reference, reason)`,
    values: [
      outcomes.map(({ payment }) => payment.merchantId),
      outcomes.map(({ payment }) => payment.orderId),
      outcomes.map(({ payment }) => payment.entryId),
      outcomes.map(({ outcome }) => outcome),
      outcomes.map(({ payment }) => payment.gateway),
      outcomes.map(({ reference }) => reference),
      outcomes.map(({ reason }) => reason),
      now,
    ],
  });
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
        and d.claim_id = input.claim_id and ${amongMerchants("$7", "d.merchant_id")}`,
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

/** Whether any of these attempts of an order waits for its time, so that `bringForward` changes something. */
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

/**
 * SQL condition: no charge or refund of an order is due, now or later. A subquery with a limit is evaluated for one
 * order after the other; the planner would turn `not exists` into a join over all orders.
 * @param order alias of the order's table in the statement
 * @param among a condition on the merchant: see `amongMerchants`
 */
export const hasNoDuePayment = (order: string, among: (column: string) => string): string => `(
            select true from due_payments d
            where d.merchant_id = ${order}.merchant_id and d.order_id = ${order}.id and ${among("d.merchant_id")}
            limit 1) is null`;
