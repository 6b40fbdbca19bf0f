import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { after, HOUR_MS, MINUTE_MS } from "../platform/time.ts";
import { createMailer, type Mailer } from "./mailer.ts";
import {
  type ClaimedMail,
  claimMail,
  listConnectionsWithDueMails,
  markMailFailed,
  markMailSent,
} from "./mails-sql.ts";

/** A worker that has recorded no outcome by then has crashed. The mail is sent again. */
const LEASE_MS = MINUTE_MS;
/** Shorter than the lease, so that no other worker sends the mail at the same time. */
const DEADLINE_MS = 45_000;
/** How many mails are sent at the same time. A distant mail server needs much time for each. */
const CONCURRENCY = 4;
const RETRY_FIRST_MS = MINUTE_MS;
const RETRY_MAX_MS = HOUR_MS;
export const ATTEMPTS_MAX = 20;

/** Sends mails that are due. Returns how many it attempted to send. */
export async function sendDueMails(context: Context, stopping?: AbortSignal): Promise<number> {
  const listDue = () => listConnectionsWithDueMails(context.db, context.clock.now());
  if ((await listDue()).length === 0) return 0;
  const mailer = createMailer(context.config);
  try {
    // Each sender claims mails that the others have not claimed.
    const senders = Array.from({ length: CONCURRENCY }, () =>
      runInTurn(listedEachPass(listDue), (connection) => sendNext(context, mailer, connection), stopping),
    );
    const ends = await Promise.allSettled(senders);
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return ends.reduce((sum, end) => sum + (end.status === "fulfilled" ? end.value : 0), 0);
  } finally {
    mailer.close();
  }
}

/** Claims, sends and records one mail in separate transactions, so that none waits for a mail server. */
async function sendNext(context: Context, mailer: Mailer, connection: ConnectionKey): Promise<number> {
  const { db, clock, log } = context;
  const now = clock.now();
  const mail = await claimMail(db, connection, now, after(now, LEASE_MS));
  if (mail === null) return 0;
  try {
    await withinDeadline(mailer.send({ ...mail, date: now }));
  } catch (error) {
    const failed = {
      mail: { id: mail.id },
      connection: { id: connection.connectionId },
      attemptCount: mail.attemptCount,
    };
    // The error's message is not logged, because mail servers repeat the address in it.
    log.warn({ ...failed, ...codesOf(error) }, "mail not sent");
    await markMailFailed(db, connection, mail, afterFailure(mail, clock.now()));
    return 1;
  }
  await markMailSent(db, connection, mail.id, clock.now());
  return 1;
}

function afterFailure({ attemptCount }: ClaimedMail, now: Date): { dueAt: Date } | { failedAt: Date } {
  if (attemptCount >= ATTEMPTS_MAX) return { failedAt: now };
  return {
    dueAt: after(now, Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (attemptCount - 1))),
  };
}

function codesOf(error: unknown): { code?: unknown; responseCode?: unknown } {
  if (!(error instanceof Error)) return {};
  const { code, responseCode } = error as Error & { code?: unknown; responseCode?: unknown }; // Set by nodemailer.
  return { code, responseCode };
}

async function withinDeadline(sending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error("The mail server did not respond in time."), { code: "ETIMEDOUT" });
    timer = setTimeout(reject, DEADLINE_MS, error);
  });
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}
