import { type ClaimedPayment, claimPayments, listPayers, type Payer } from "../ledger/due-payments-sql.ts";
import type { Context } from "../platform/context.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { MINUTE_MS } from "../platform/time.ts";
import type { Gateway } from "./gateway.ts";
import { type RespondedPayment, recordResponses } from "./record-responses.ts";

/** Who has not told the outcome by then has crashed, and somebody else sends the same entry again. */
const LEASE_MS = MINUTE_MS;

/**
 * Batches of one payer in a round: with the built-in gateway 2 000 payments a second. Creations that come faster than
 * that are worth more than being charged at once, since there are hours for it.
 */
const BATCHES_MAX = 2;

/** Sends what is due to one gateway and records what it says; answers how many payments it asked about. */
export async function processPayments(
  context: Context,
  gateway: Gateway,
  stopping?: AbortSignal,
): Promise<number> {
  const payers = await listPayers(context.db, gateway.name, context.clock.now());
  const lanes = Array.from({ length: gateway.concurrency }, (_, lane) =>
    payers.filter((_payer, index) => index % gateway.concurrency === lane),
  );
  const ends = await Promise.allSettled(
    lanes.map((payersOfLane) =>
      runInTurn(
        eachUntilDone(payersOfLane.map(aRound)),
        (round) => processNextBatch(context, gateway, round),
        stopping,
      ),
    ),
  );
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  return ends.reduce((sum, end) => sum + (end.status === "fulfilled" ? end.value : 0), 0);
}

type Round = { readonly payer: Payer; batchesLeft: number };
const aRound = (payer: Payer): Round => ({ payer, batchesLeft: BATCHES_MAX });

async function processNextBatch(context: Context, gateway: Gateway, round: Round): Promise<number> {
  if (round.batchesLeft === 0) return 0;
  round.batchesLeft -= 1;
  return processBatch(context, gateway, round.payer);
}

/** Claimed, sent and recorded in steps of their own: no transaction waits for a gateway. */
async function processBatch(context: Context, gateway: Gateway, payer: Payer): Promise<number> {
  const { db, clock, newId } = context;
  const now = clock.now();
  const payments = await claimPayments(db, payer, {
    claimId: newId(),
    now,
    leasedUntil: new Date(now.getTime() + LEASE_MS),
    limit: gateway.batchSize,
  });
  if (payments.length === 0) return 0;
  const answered = await Promise.all(payments.map((payment) => sendPayment(context, gateway, payment)));
  await recordResponses(context, payer.connectionId, answered);
  return payments.length;
}

async function sendPayment(
  { log }: Context,
  gateway: Gateway,
  payment: ClaimedPayment,
): Promise<RespondedPayment> {
  try {
    const answer = payment.kind === "refund" ? await gateway.refund(payment) : await gateway.charge(payment);
    return { payment, answer };
  } catch (err) {
    const { entryId, orderId, connectionId, attemptCount } = payment;
    const place = { entry: { id: entryId }, order: { id: orderId }, connection: { id: connectionId } };
    log.warn(
      { err, ...place, attemptCount, gateway: gateway.name },
      "nobody knows how a payment went; it is asked again",
    );
    return { payment, answer: null };
  }
}
