import {
  type FailureMailKind,
  listMerchantsToMail,
  markFailuresMailed,
  markResolutionsMailed,
  takeMailTurn,
} from "../../ledger/failures/payment-failures-sql.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { readAccountEmail } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isOutOfReach } from "../../platform/database/database.ts";
import { before, MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import { failureMail } from "./failure-mail-text.ts";

/** What happens within this time after the first failure is in the same mail. */
export const GATHER_MS = 30 * SECOND_MS;
/** A merchant gets at most one mail of each kind in this time. */
export const PAUSE_MS = 15 * MINUTE_MS;
/** Merchants of one run. Others wait for the next one. */
const MERCHANTS_MAX = 500;
const SIZE = { failures: 10_000, named: 20 };

const KINDS: readonly FailureMailKind[] = ["failure", "resolution"];

/**
 * Queues the mails about failed payments (decision 0092): one for all failures of a merchant that have no mail yet, and one
 * for all that were resolved since. Returns how many it queued.
 */
export async function mailPaymentFailures(context: Context, stopping?: AbortSignal): Promise<number> {
  let count = 0;
  const failures: unknown[] = [];
  for (const kind of KINDS) {
    const now = context.clock.now();
    const pace = { until: before(now, GATHER_MS), mailedBefore: before(now, PAUSE_MS) };
    for (const merchantId of await listMerchantsToMail(context.db, kind, pace, MERCHANTS_MAX)) {
      if (stopping?.aborted) return count;
      try {
        if (await mailMerchant(context, merchantId, kind)) count += 1;
      } catch (error) {
        if (isOutOfReach(error)) throw error;
        failures.push(error); // One merchant delays no other one.
      }
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "Mails about failed payments were not queued.");
  return count;
}

/** One transaction marks what the mail reports and queues the mail, so each failure is in exactly one mail. */
async function mailMerchant(context: Context, merchantId: string, kind: FailureMailKind): Promise<boolean> {
  return inTransaction(context, async (tx) => {
    const now = context.clock.now();
    if (!(await takeMailTurn(tx, merchantId, kind, { now, mailedBefore: before(now, PAUSE_MS) })))
      return false;
    const id = context.newId();
    const mark = kind === "failure" ? markFailuresMailed : markResolutionsMailed;
    const reported = await mark(tx, merchantId, id, SIZE);
    if (reported === null) return false;
    const recipient = await readAccountEmail(tx, merchantId);
    await queueMail(tx, { ...reported.connection, ...failureMail(kind, reported), id, recipient, now });
    return true;
  });
}
