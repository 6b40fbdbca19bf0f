import { failedCharges, type LedgerEntry } from "../ledger/ledger.ts";
import {
  type FailureMailKind,
  listMerchantsToMail,
  type MailedFailure,
  markFailuresMailed,
  markResolutionsMailed,
  openFailures,
  type Resolution,
  resolveFailures,
  takeMailTurn,
} from "../ledger/payment-failures-sql.ts";
import type { RecordContext } from "../lifecycle/applied-transition.ts";
import { wasCanceled } from "../lifecycle/lifecycle.ts";
import type { Order } from "../lifecycle/order.ts";
import { queueMail } from "../mail/mails-sql.ts";
import { oneLine, plainId, subjectWith } from "../mail/one-line.ts";
import { readAccountEmail } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, type Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { before, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { counted } from "../platform/wire/rules.ts";

/** Failures within this time after the first one are in the same mail. */
const GATHER_MS = 30 * SECOND_MS;
/** A merchant gets at most one mail of each kind in this time. */
const PAUSE_MS = 15 * MINUTE_MS;
/** Merchants of one run. Others wait for the next one. */
const MERCHANTS_MAX = 500;
const SIZE = { failures: 10_000, named: 20 };

const KINDS: readonly FailureMailKind[] = ["failure", "resolution"];

/**
 * Queues the mails about failed payments (docs/design/money.md, "Mails about failed payments"): one for all failures of a
 * merchant that have no mail yet, and one for all that were resolved since. Returns how many it queued.
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

/** What a mail about failed payments reports: how many, and the first of them. */
type Reported = { readonly count: number; readonly first: readonly MailedFailure[] };

/** The mail that reports failed payments to the merchant, or that they are resolved. */
function failureMail(kind: FailureMailKind, { count, first }: Reported): { subject: string; body: string } {
  const [only] = first;
  const [begin, end] = SUBJECTS[kind];
  const subject =
    count === 1 && only !== undefined
      ? subjectWith(`${begin} order `, nameOf(only), end)
      : `${begin} ${counted(count, "order")}${end}`;
  const more = count - first.length;
  const lines = [
    ...first.map((failure) => `  ${lineOf(kind, failure)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
  const paragraphs = [`${INTRODUCTIONS[kind]}\n\n${lines.join("\n")}`, ...REMEDIES[kind]];
  return { subject, body: `${paragraphs.join("\n\n")}\n` };
}

const SUBJECTS: Record<FailureMailKind, readonly [string, string]> = {
  failure: ["Payment failed for", ""],
  resolution: ["Failed payment resolved for", ""],
};

const INTRODUCTIONS: Record<FailureMailKind, string> = {
  failure: "The charge for these orders was declined:",
  resolution: "These orders no longer owe a declined charge:",
};

const REMEDIES: Record<FailureMailKind, readonly string[]> = {
  failure: [
    "An order that has not shipped is on hold until it is paid, and the partner can cancel it. The charge is attempted again automatically.",
    "To release the orders earlier, pay your account, or ask the service for another payment method. You get one more mail when a failed payment is resolved, and none for further attempts.",
  ],
  resolution: [],
};

const RESOLUTIONS: Record<Resolution, string> = {
  paid: "paid",
  waived: "released without payment",
  canceled: "canceled, nothing is owed",
};

function lineOf(kind: FailureMailKind, failure: MailedFailure): string {
  const { orderId, externalOrderId, reason, resolution } = failure;
  const plain = plainId(externalOrderId);
  const partnersId = plain === null ? "" : ` (${plain})`;
  const since = resolution === null ? "" : `, ${RESOLUTIONS[resolution]}`;
  const outcome = kind === "failure" ? `: ${oneLine(reason)}${since}` : `: ${since.slice(2)}`;
  return `${toTypeId("ord", orderId)}${partnersId}${outcome}`;
}

const nameOf = ({ orderId, externalOrderId }: MailedFailure): string =>
  plainId(externalOrderId) ?? toTypeId("ord", orderId);

/** An order whose ledger has new outcomes. */
type Recorded = {
  readonly order: Order;
  readonly recorded: {
    readonly ledger: readonly LedgerEntry[];
    /** True if any charge succeeded. */
    readonly hasPaid: boolean;
  };
};

/**
 * Records which orders have a failed payment now, and whose was paid, for the mails to their merchants. Before the
 * transitions of the orders are stored: what is paid is not waived.
 */
export async function recordFailures(
  tx: Queryable,
  outcomes: readonly Recorded[],
  { newId, now }: RecordContext,
): Promise<void> {
  const owing = outcomes.filter(({ order }) => !wasCanceled(order));
  const failed = owing.flatMap(({ order, recorded }) => {
    const [declined] = failedCharges(recorded.ledger);
    return declined === undefined
      ? []
      : [{ order, id: newId(), reason: declined.failureReason ?? "declined" }];
  });
  const stillFailed = new Set(failed.map(({ order }) => order.id));
  const paid = owing.filter(({ order, recorded }) => recorded.hasPaid && !stillFailed.has(order.id));
  await openFailures(tx, failed, now);
  await resolveFailures(
    tx,
    paid.map(({ order }) => order),
    "paid",
    now,
  );
}
