import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { Config } from "../platform/config.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { isThisMachine } from "../platform/database/servers.ts";
import { inBatches, listedEachPass, runInTurn, shareOf } from "../platform/run-in-turn.ts";
import { after, HOUR_MS, MINUTE_MS } from "../platform/time.ts";
import {
  type ClaimedMail,
  claimMails,
  listConnectionsWithDueMails,
  type MailEnd,
  recordMails,
} from "./mails-sql.ts";

/** A worker that has recorded no outcome by then has crashed. The mail is sent again. */
const LEASE_MS = MINUTE_MS;
/** Of each mail. */
const DEADLINE_MS = 45_000;
/** Mails of one claim, which connections share. After a crash as many can be sent twice. */
const BATCH_SIZE = 16;
/** How many mails are sent at the same time. A distant mail server needs much time for each. */
const CONCURRENCY = 4;
const RETRY_FIRST_MS = MINUTE_MS;
const RETRY_MAX_MS = HOUR_MS;
export const ATTEMPTS_MAX = 20;

/** Sends mails that are due. Returns how many it attempted to send. */
export async function sendDueMails(context: Context, stopping?: AbortSignal): Promise<number> {
  const listDue = async () =>
    inBatches(await listConnectionsWithDueMails(context.db, context.clock.now()), BATCH_SIZE);
  if ((await listDue()).length === 0) return 0;
  const mailer = createMailer(context.config);
  try {
    return await runInTurn(
      listedEachPass(listDue),
      (connections) => sendBatch(context, mailer, connections),
      stopping,
    );
  } finally {
    mailer.close();
  }
}

/** Claims, sends and records mails in separate transactions, so that none waits for a mail server. */
async function sendBatch(
  context: Context,
  mailer: Mailer,
  connections: readonly ConnectionKey[],
): Promise<number> {
  const now = context.clock.now();
  const leasedUntil = after(now, LEASE_MS);
  const mails = await claimMails(context.db, connections, {
    now,
    leasedUntil,
    share: shareOf(BATCH_SIZE, connections.length),
  });
  if (mails.length === 0) return 0;
  const waiting = mails.values();
  const ends: MailEnd[] = [];
  const sendWaiting = async () => {
    for (const mail of waiting) ends.push(await sendMail(context, mailer, mail, leasedUntil));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendWaiting));
  await recordMails(context.db, ends);
  return ends.filter((end) => !("isUnsent" in end)).length;
}

async function sendMail(
  { clock, log }: Context,
  mailer: Mailer,
  mail: ClaimedMail,
  leasedUntil: Date,
): Promise<MailEnd> {
  const now = clock.now();
  // Another worker would send it at the same time.
  if (after(now, DEADLINE_MS) > leasedUntil) return { mail, isUnsent: true };
  try {
    await withinDeadline(mailer.send({ ...mail, date: now }));
  } catch (error) {
    const failed = {
      mail: { id: mail.id },
      connection: { id: mail.connectionId },
      attemptCount: mail.attemptCount,
    };
    // The error's message is not logged, because mail servers repeat the address in it.
    log.warn({ ...failed, ...codesOf(error) }, "mail not sent");
    return { mail, ...afterFailure(mail, clock.now()) };
  }
  return { mail, sentAt: clock.now() };
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

type Mail = {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly date: Date;
};

type Mailer = {
  /** Resolves when the mail server has accepted the mail. */
  send(mail: Mail): Promise<void>;
  close(): void;
};

/** Timeout of each exchange with the mail server. The default of the library is up to ten minutes. */
const EXCHANGE_TIMEOUT_MS = 10_000;

/** Sends through SMTP_URL. Without it, writes mails as files to `DATA_DIR/mail`, for development. */
function createMailer({ smtpUrl, mailFrom, dataDir }: Config): Mailer {
  if (smtpUrl === null) return fileMailer(join(dataDir, "mail"), mailFrom);
  const transport = createTransport({
    url: smtpUrl,
    // Mails of a run share connections. One that ends while a mail is sent is not known to have failed: it is sent once more.
    pool: true,
    maxConnections: CONCURRENCY,
    maxRequeues: 1,
    connectionTimeout: EXCHANGE_TIMEOUT_MS,
    greetingTimeout: EXCHANGE_TIMEOUT_MS,
    socketTimeout: EXCHANGE_TIMEOUT_MS,
    dnsTimeout: EXCHANGE_TIMEOUT_MS,
    // Otherwise a network between could hide that the server offers TLS. The URL's own parameters take precedence.
    requireTLS: !isThisMachine(new URL(smtpUrl).hostname),
    ...NO_FILES_OR_URLS,
  });
  return {
    send: async (mail) => {
      await transport.sendMail(message(mail, mailFrom));
    },
    close: () => transport.close(),
  };
}

// The text of a mail must not make nodemailer read files or URLs.
const NO_FILES_OR_URLS = { disableFileAccess: true, disableUrlAccess: true };

/** True if the address of a mail server on another host permits sending without TLS. */
export function sendsInTheClear(smtpUrl: string): boolean {
  const { protocol, hostname, searchParams } = new URL(smtpUrl);
  if (protocol === "smtps:" || isThisMachine(hostname)) return false;
  return searchParams.get("requireTLS") === "false" || searchParams.get("ignoreTLS") === "true";
}

function fileMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, ...NO_FILES_OR_URLS });
  return {
    async send(mail) {
      const { message: text } = await transport.sendMail(message(mail, from));
      if (!Buffer.isBuffer(text)) throw new TypeError("The transport returned no buffer.");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${mail.id}.eml`);
      await writeFile(`${file}.draft`, text, { mode: 0o600 });
      await rename(`${file}.draft`, file); // The file is complete when it appears.
    },
    close: () => transport.close(),
  };
}

function message({ id, recipient, subject, body, date }: Mail, from: string): SendMailOptions {
  return {
    from: { name: "Partner Orders", address: from },
    to: { name: "", address: recipient }, // As an object, because nodemailer parses a text as a list of addresses.
    subject,
    text: body,
    date,
    // The same for every attempt, so that a mail that was sent twice is recognized as a duplicate.
    messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    headers: { "Auto-Submitted": "auto-generated" }, // RFC 3834: prevents automatic replies.
  };
}
