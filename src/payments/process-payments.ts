import { type ClaimedPayment, claimPayments, listPayers, type Payer } from "../ledger/claim-payments-sql.ts";
import type { Context } from "../platform/context.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { MINUTE_MS } from "../platform/time.ts";
import type { RespondedPayment } from "./evaluate-responses.ts";
import type { Gateway } from "./gateway.ts";
import { recordResponses } from "./record-responses.ts";

/** A worker that has recorded no outcome by then has crashed or stalled, and another one sends the same entry again. */
const LEASE_MS = MINUTE_MS;

/**
 * Batches of one connection in a run: with the built-in gateway 2 000 payments a second. When orders arrive faster than
 * that, creating them matters more than charging them at once, because there are hours for it.
 */
const BATCHES_MAX = 2;

/** Sends due payments to one gateway and records its responses; returns how many payments it sent. */
export async function processPayments(
  context: Context,
  gateway: Gateway,
  stopping?: AbortSignal,
): Promise<number> {
  const payers = await listPayers(context.db, gateway.name, context.clock.now());
  const shares = Array.from({ length: gateway.concurrency }, (_, share) =>
    payers.filter((_payer, index) => index % gateway.concurrency === share),
  );
  const ends = await Promise.allSettled(
    shares.map((share) =>
      runInTurn(
        eachUntilDone(share.map(newTurn)),
        (turn) => processNextBatch(context, gateway, turn),
        stopping,
      ),
    ),
  );
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  return ends.reduce((sum, end) => sum + (end.status === "fulfilled" ? end.value : 0), 0);
}

type Turn = { readonly payer: Payer; batchesLeft: number };
const newTurn = (payer: Payer): Turn => ({ payer, batchesLeft: BATCHES_MAX });

async function processNextBatch(context: Context, gateway: Gateway, turn: Turn): Promise<number> {
  if (turn.batchesLeft === 0) return 0;
  turn.batchesLeft -= 1;
  return processBatch(context, gateway, turn.payer);
}

/** Claims, sends and records in separate transactions, so that none waits for a gateway. */
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
  const responded = await Promise.all(payments.map((payment) => sendPayment(context, gateway, payment)));
  await recordResponses(context, payer, responded);
  return payments.length;
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
