import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

export type ReceivedMail = {
  from: string;
  to: string[];
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
};

export type MailServer = {
  readonly url: string;
  /** Mails that were taken over. */
  readonly mails: readonly ReceivedMail[];
  /** How many connections there have been. */
  connectionCount(): number;
  /** Is called for each mail from now on. */
  onMail(listener: () => void): void;
  /** Responds to every recipient with this SMTP code from now on; null: accepts everything. */
  rejectWith(code: number | null): void;
  /** Says of no mail that it was taken over until so many have come. */
  answerFrom(count: number): void;
  close(): Promise<void>;
};

/** A real mail server for one test. Its errors repeat the recipient, as those of real servers do. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let rejection: number | null = null;
  let answersFrom = 0;
  let connections = 0;
  let listener = (): void => undefined;
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"], // Its certificate would not be trusted.
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onRcptTo({ address }, _session, callback) {
      if (rejection === null) return callback();
      callback(Object.assign(new Error(`<${address}> not now`), { responseCode: rejection }));
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, ...parseMail(Buffer.concat(chunks).toString("utf8")) });
        listener();
        waiting.push(callback);
        if (mails.length >= answersFrom) for (const answer of waiting.splice(0)) answer();
      });
    },
  });
  server.on("error", () => undefined); // Clients that go away.
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise((resolve) => server.close(resolve));
    return closed;
  };
  onTestFinished(close);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connectionCount: () => connections,
    onMail: (called) => {
      listener = called;
    },
    rejectWith: (code) => {
      rejection = code;
    },
    answerFrom: (count) => {
      answersFrom = count;
    },
    close,
  };
}

/** The headers and the body of a mail of one part. */
export function parseMail(text: string): Pick<ReceivedMail, "headers" | "body"> {
  const [, head = "", body = ""] = /^(.*?)\r?\n\r?\n(.*)$/s.exec(text) ?? [];
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const headers = lines.map((line) => /^([^:]+): (.*)$/.exec(line) ?? []);
  return {
    headers: Object.fromEntries(headers.map(([, name = "", value = ""]) => [name.toLowerCase(), value])),
    body: body.trimEnd(),
  };
}
