import { type ClaimedPayment, claimPayments, listPayers } from "../ledger/due-payments-sql.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { planBatch } from "../platform/database/database.ts";
import { eachUntilDone, inBatches, runInTurn, shareOf } from "../platform/run-in-turn.ts";
import { MINUTE_MS } from "../platform/time.ts";
import { type Gateway, type RespondedPayment, recordResponses } from "./record-responses.ts";

/** A worker that has recorded no outcome by then has crashed or stalled. Another one sends the entry again. */
const LEASE_MS = MINUTE_MS;

/** Batches that one connection can fill before the connections are listed again, so that it keeps no other waiting for long. */
const BATCHES_MAX = 2;
/** Then the run ends, also with more work: only its end reports what it has done. */
const ROUNDS_MAX = 50;

/**
 * Sends due payments to one gateway and records its responses. Returns how many payments it sent. Connections share the batches
 * (docs/design/database.md, "Shared batches").
 */
export async function processPayments(
  context: Context,
  gateway: Gateway,
  stopping?: AbortSignal,
): Promise<number> {
  let count = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const turns: Turn[] = [];
    count += await sendRound(context, gateway, turns, stopping);
    if (stopping?.aborted || !turns.some(({ hasMore }) => hasMore)) break;
  }
  return count;
}

/** Sends payments of all connections that have any due, of each up to `BATCHES_MAX` batches. Adds their turns to `turns`. */
async function sendRound(
  context: Context,
  gateway: Gateway,
  turns: Turn[],
  stopping?: AbortSignal,
): Promise<number> {
  const payers = await listPayers(context.db, gateway.name, context.clock.now());
  const shares = Array.from({ length: gateway.concurrency }, (_, share) =>
    payers.filter((_payer, index) => index % gateway.concurrency === share),
  );
  const ends = await Promise.allSettled(
    shares.map((share) =>
      runInTurn(
        eachUntilDone(inBatches(share, gateway.batchSize).map((batch) => addTurn(turns, gateway, batch))),
        (turn, failures) => processBatch(context, gateway, turn, failures),
        stopping,
      ),
    ),
  );
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  return ends.reduce((sum, end) => sum + (end.status === "fulfilled" ? end.value : 0), 0);
}

/** A connection, and how many more of its payments the round sends. */
type Payer = ConnectionKey & { readonly paymentsLeft: number };

/** Connections that share their batches, as long as they have due payments. `hasMore`: one may have more than the round sends. */
type Turn = { payers: readonly Payer[]; hasMore: boolean };

function addTurn(turns: Turn[], { batchSize }: Gateway, connections: readonly ConnectionKey[]): Turn {
  const paymentsLeft = BATCHES_MAX * batchSize;
  const turn = { payers: connections.map((connection) => ({ ...connection, paymentsLeft })), hasMore: false };
  turns.push(turn);
  return turn;
}

/** Claims, sends and records in separate transactions, so that none waits for a gateway. */
async function processBatch(
  context: Context,
  gateway: Gateway,
  turn: Turn,
  failures: unknown[],
): Promise<number> {
  if (turn.payers.length === 0) return 0;
  const payments = await claimBatch(context, gateway, turn.payers);
  const byConnection = Map.groupBy(payments, ({ connectionId }) => connectionId);
  turn.payers = turn.payers.flatMap((payer) => {
    const claimed = byConnection.get(payer.connectionId)?.length ?? 0;
    const paymentsLeft = payer.paymentsLeft - claimed;
    if (paymentsLeft <= 0) turn.hasMore = true;
    return claimed === 0 || paymentsLeft <= 0 ? [] : [{ ...payer, paymentsLeft }];
  });
  const responded = await Promise.all(payments.map((payment) => sendPayment(context, gateway, payment)));
  await recordResponses(context, responded, failures);
  return payments.length;
}

async function claimBatch(
  context: Context,
  gateway: Gateway,
  payers: readonly ConnectionKey[],
): Promise<ClaimedPayment[]> {
  const now = context.clock.now();
  const claim = {
    claimId: context.newId(),
    now,
    leasedUntil: new Date(now.getTime() + LEASE_MS),
    share: shareOf(gateway.batchSize, payers.length),
  };
  return inTransaction(context, async (tx) => {
    await planBatch(tx);
    return claimPayments(tx, gateway.name, payers, claim);
  });
}

async function sendPayment(
  { log }: Context,
  gateway: Gateway,
  payment: ClaimedPayment,
): Promise<RespondedPayment> {
  try {
    const response =
      payment.kind === "refund" ? await gateway.refund(payment) : await gateway.charge(payment);
    return { payment, response };
  } catch (err) {
    const { entryId, orderId, connectionId, attemptCount } = payment;
    const ids = { entry: { id: entryId }, order: { id: orderId }, connection: { id: connectionId } };
    log.warn({ err, ...ids, attemptCount, gateway: gateway.name }, "payment outcome unknown, will retry");
    return { payment, response: null };
  }
}
