import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { Config } from "../platform/config.ts";

type Mail = {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly date: Date;
};

export type Mailer = {
  /** Resolves when the mail server has taken the mail over. */
  send(mail: Mail): Promise<void>;
  close(): void;
};

/** Each command of the conversation with the mail server; the default is up to ten minutes. */
const STEP_TIMEOUT_MS = 10_000;

/** Sends through SMTP_URL; without one, mails are put as files into `DATA_DIR/mail`, for a laptop. */
export function createMailer({ smtpUrl, mailFrom, dataDir }: Config): Mailer {
  if (smtpUrl === null) return fileMailer(join(dataDir, "mail"), mailFrom);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    ...NOTHING_FROM_OUTSIDE,
  });
  return {
    send: async (mail) => {
      await transport.sendMail(message(mail, mailFrom));
    },
    close: () => transport.close(),
  };
}

// A mail consists of its text alone, with any content.
const NOTHING_FROM_OUTSIDE = { disableFileAccess: true, disableUrlAccess: true };

function fileMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, ...NOTHING_FROM_OUTSIDE });
  return {
    async send(mail) {
      const { message: text } = await transport.sendMail(message(mail, from));
      if (!Buffer.isBuffer(text)) throw new TypeError("The transport should return a buffer.");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${mail.id}.eml`);
      await writeFile(`${file}.draft`, text, { mode: 0o600 });
      await rename(`${file}.draft`, file); // So that the file is there whole or not at all.
    },
    close: () => transport.close(),
  };
}

function message({ id, recipient, subject, body, date }: Mail, from: string): SendMailOptions {
  return {
    from: { name: "Partner Orders", address: from },
    to: { name: "", address: recipient }, // As an object: never read as a list of addresses.
    subject,
    text: body,
    date,
    // The same in every attempt, so that a mail that was sent twice after a crash can be distinguished from two mails.
    messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    headers: { "Auto-Submitted": "auto-generated" }, // RFC 3834: no out-of-office replies, please.
  };
}
