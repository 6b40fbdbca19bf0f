import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { Config } from "../platform/config.ts";
import { isThisMachine } from "../platform/database/server-address.ts";

type Mail = {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly date: Date;
};

export type Mailer = {
  /** Resolves when the mail server has accepted the mail. */
  send(mail: Mail): Promise<void>;
  close(): void;
};

/** Timeout of each exchange with the mail server. The default of the library is up to ten minutes. */
const EXCHANGE_TIMEOUT_MS = 10_000;

/** Sends through SMTP_URL. Without it, writes mails as files to `DATA_DIR/mail`, for development. */
export function createMailer({ smtpUrl, mailFrom, dataDir }: Config): Mailer {
  if (smtpUrl === null) return fileMailer(join(dataDir, "mail"), mailFrom);
  const transport = createTransport({
    url: smtpUrl,
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

/** Whether the address of a mail server on another host permits sending without TLS. */
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
