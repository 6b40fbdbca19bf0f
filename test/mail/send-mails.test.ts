import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { deleteOldMails, queueMail } from "../../src/mail/mails-sql.ts";
import { ATTEMPTS_MAX } from "../../src/mail/send-mails.ts";
import { inTransaction } from "../../src/platform/context.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { countStatements, statementsOfBatch } from "../support/counted-statements.ts";
import { runJob } from "../support/jobs.ts";
import { type MailServer, parseMail, startMailServer } from "../support/mail-server.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { connectionKey, connectionUuid } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const RECIPIENT = "merchant@shop.example";
const send = (test: TestService) => runJob(test, "send-mails");
const purge = (test: TestService) => runJob(test, "purge-mails");

async function start(): Promise<{ test: TestService; partner: Partner; server: MailServer }> {
  const server = await startMailServer();
  const test = await startServiceForTest({
    config: { smtpUrl: server.url, mailFrom: "orders@fulfilment.example" },
  });
  return { test, partner: await createPartner(test), server };
}

/** Queues a mail in its own transaction; returns its id. */
async function queue({ context }: TestService, partner: Partner, fields: object = {}): Promise<string> {
  const id = context.newId();
  const mail = { recipient: RECIPIENT, subject: "A warning", body: "Your endpoint fails.", ...fields };
  const key = { ...connectionKey(partner), id, now: context.clock.now() };
  await inTransaction(context, (tx) => queueMail(tx, { ...key, ...mail }));
  return id;
}

type StoredMail = { attemptCount: number; dueAt: Date; sentAt: Date | null; failedAt: Date | null };

const stored = ({ db }: TestService): Promise<StoredMail[]> =>
  db.query({
    name: "test-mails",
    text: `
      select attempt_count as "attemptCount", due_at as "dueAt", sent_at as "sentAt", failed_at as "failedAt" from outgoing_mails order by id`,
    values: [],
  });

/** The same service on a database that fails at one statement. */
function failingAt(test: TestService, statement: string): TestService {
  const { db } = test.context;
  const query: Queryable["query"] = (asked) =>
    asked.name === statement ? Promise.reject(new Error("The process has crashed.")) : db.query(asked);
  return { ...test, context: { ...test.context, db: { ...db, query } } };
}

describe("send-mails", () => {
  it("sends what is queued, once, from MAIL_FROM, with an id and a date of its own", async () => {
    const { test, partner, server } = await start();
    const id = await queue(test, partner, { subject: "Grüße", body: "Zwei\nZeilen" });
    expect(await send(test)).toBe(1);
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]).toMatchObject({
      from: "orders@fulfilment.example",
      to: [RECIPIENT],
      headers: {
        from: "Partner Orders <orders@fulfilment.example>",
        to: RECIPIENT,
        subject: expect.stringMatching(/^=\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe\?=$/),
        "message-id": `<${id}@fulfilment.example>`,
        date: "Mon, 02 Mar 2026 09:00:00 +0000",
        "auto-submitted": "auto-generated",
      },
      body: expect.stringMatching(/^Zwei\r?\nZeilen$/),
    });
    expect(await stored(test)).toMatchObject([{ attemptCount: 1, sentAt: test.clock.now(), failedAt: null }]);
    test.clock.advance({ hours: 24 });
    expect(await send(test)).toBe(0);
    expect(server.mails).toHaveLength(1);
  });

  it("sends to an international domain in its ASCII form, and to an international name as it is", async () => {
    const { test, partner, server } = await start();
    await queue(test, partner, { recipient: "x@münchen.example" });
    await queue(test, partner, { recipient: "müller@münchen.example" });
    await send(test);
    const recipients = server.mails.map(({ headers }) => headers["to"]);
    expect(recipients.toSorted()).toEqual(["müller@münchen.example", "x@xn--mnchen-3ya.example"]);
    expect(await stored(test)).toMatchObject([{ failedAt: null }, { sentAt: test.clock.now() }]);
  });

  it("sends nothing of a transaction that was rolled back", async () => {
    const { test, partner, server } = await start();
    const { context } = test;
    const transaction = inTransaction(context, async (tx) => {
      const key = { ...connectionKey(partner), id: context.newId(), now: context.clock.now() };
      await queueMail(tx, { ...key, recipient: RECIPIENT, subject: "Never", body: "sent" });
      throw new Error("Something else fails.");
    });
    await expect(transaction).rejects.toThrow();
    expect(await send(test)).toBe(0);
    expect(server.mails).toEqual([]);
  });

  it("sends every mail once when several workers do it at the same time", async () => {
    const { test, partner, server } = await start();
    const other = await createPartner(test);
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await queue(test, count % 2 === 0 ? partner : other));
    const counts = await Promise.all([send(test), send(test), send(test)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(6);
    expect(server.mails.map(({ headers }) => headers["message-id"]).sort()).toEqual(
      ids.map((id) => `<${id}@fulfilment.example>`).sort(),
    );
  });

  it.each([
    ["one connection", 1],
    ["several connections", 3],
  ])(
    "sends several at the same time, so that a slow server does not delay all of them: of %s",
    async (_title, count) => {
      const { test, partner, server } = await start();
      const partners = [partner];
      while (partners.length < count) partners.push(await createPartner(test));
      for (let n = 0; n < 3; n += 1) await queue(test, partners[n % count] ?? partner);
      server.answerFrom(3);
      expect(await send(test)).toBe(3);
      expect(server.mails).toHaveLength(3);
    },
  );

  it("sends many over few connections, and claims and records them together", async () => {
    const { test, partner, server } = await start();
    const other = await createPartner(test);
    for (let count = 0; count < 20; count += 1) await queue(test, count % 2 === 0 ? partner : other);
    const { context, names } = countStatements(test.context);
    expect(await send({ ...test, context })).toBe(20);
    expect(new Set(server.mails.map(({ headers }) => headers["message-id"])).size).toBe(20);
    expect(server.connectionCount()).toBeLessThanOrEqual(4);
    expect(statementsOfBatch(names).filter((name) => /^(claim|record)-mails$/.test(name))).toHaveLength(4);
  });

  it("begins none that another worker could claim before it is sent, and counts no attempt at it", async () => {
    const { test, partner, server } = await start();
    for (let count = 0; count < 6; count += 1) await queue(test, partner);
    server.onMail(() => test.clock.advance({ seconds: 16 }));
    const { context, names } = countStatements(test.context);
    expect(await send({ ...test, context })).toBe(6);
    expect(names.filter((name) => name === "claim-mails").length).toBeGreaterThan(1);
    expect((await stored(test)).map(({ attemptCount, sentAt }) => [attemptCount, sentAt !== null])).toEqual(
      Array(6).fill([1, true]),
    );
  });

  it("does not let the content of a mail add headers or recipients", async () => {
    const { test, partner, server } = await start();
    await queue(test, partner, { subject: "One\r\nBcc: all@shop.example", recipient: RECIPIENT });
    await send(test);
    expect(server.mails[0]?.to).toEqual([RECIPIENT]);
    expect(server.mails[0]?.headers["bcc"]).toBeUndefined();
  });
});

describe("a mail that cannot be sent", () => {
  it("is retried after a minute when the server rejects it temporarily", async () => {
    const { test, partner, server } = await start();
    const id = await queue(test, partner);
    server.rejectWith(450);
    expect(await send(test)).toBe(1);
    expect(server.mails).toEqual([]);
    server.rejectWith(null);
    test.clock.advance({ minutes: 1, ms: -1 });
    expect(await send(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await send(test)).toBe(1);
    expect(server.mails.map(({ headers }) => headers["message-id"])).toEqual([`<${id}@fulfilment.example>`]);
    expect(await stored(test)).toMatchObject([{ attemptCount: 2, sentAt: test.clock.now() }]);
  });

  it("is retried when the server was down, and delays no other", async () => {
    const { test, partner, server } = await start();
    await server.close();
    await queue(test, partner);
    await queue(test, await createPartner(test));
    expect(await send(test)).toBe(2);
    expect(await stored(test)).toMatchObject([
      { attemptCount: 1, sentAt: null, failedAt: null },
      { attemptCount: 1, sentAt: null, failedAt: null },
    ]);
    const again = await startMailServer();
    test.clock.advance({ minutes: 1 });
    const { context } = test;
    const corrected = { ...test, context: { ...context, config: { ...context.config, smtpUrl: again.url } } };
    expect(await send(corrected)).toBe(2);
    expect(again.mails).toHaveLength(2);
  });

  it("waits twice as long each time, up to an hour, and is given up after twenty attempts", async () => {
    const { test, partner, server } = await start();
    await queue(test, partner);
    server.rejectWith(550);
    const waitsMinutes: number[] = [];
    for (let attempts = 1; attempts < ATTEMPTS_MAX; attempts += 1) {
      await send(test);
      const [mail] = await stored(test);
      const waitMs = (mail?.dueAt.getTime() ?? 0) - test.clock.now().getTime();
      waitsMinutes.push(waitMs / 60_000);
      test.clock.advance({ ms: waitMs });
    }
    expect(waitsMinutes).toEqual([1, 2, 4, 8, 16, 32, ...Array(13).fill(60)]);
    await send(test);
    expect(await stored(test)).toMatchObject([
      { attemptCount: 20, sentAt: null, failedAt: test.clock.now() },
    ]);
    server.rejectWith(null);
    test.clock.advance({ hours: 24 });
    expect(await send(test)).toBe(0);
    expect(server.mails).toEqual([]);
  });

  it("is logged by its id and the codes, never by its address or its text", async () => {
    const { test, partner, server } = await start();
    const id = await queue(test, partner);
    const log = vi.spyOn(test.context.log, "warn");
    server.rejectWith(450);
    await send(test);
    expect(log.mock.calls).toEqual([
      [
        {
          mail: { id },
          connection: { id: connectionUuid(partner) },
          attemptCount: 1,
          code: "EENVELOPE",
          responseCode: 450,
        },
        "mail not sent",
      ],
    ]);
  });
});

describe("a worker that crashes between sending a mail and noting it", () => {
  it("lets it be sent a second time, after a minute, and recognised by its id", async () => {
    const { test, partner, server } = await start();
    await queue(test, partner);
    await expect(send(failingAt(test, "record-mails"))).rejects.toThrow();
    expect(server.mails).toHaveLength(1);
    test.clock.advance({ minutes: 1, ms: -1 });
    expect(await send(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await send(test)).toBe(1);
    test.clock.advance({ hours: 24 });
    expect(await send(test)).toBe(0);
    const [first, second, ...others] = server.mails.map(({ headers }) => headers["message-id"]);
    expect(first).toBe(second);
    expect(others).toEqual([]);
  });
});

describe("without SMTP_URL", () => {
  it("mails are put as files into DATA_DIR/mail, for the service's user alone", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const test = await startServiceForTest({ config: { smtpUrl: null, dataDir } });
    const id = await queue(test, await createPartner(test));
    expect(await send(test)).toBe(1);
    expect(await readdir(join(dataDir, "mail"))).toEqual([`${id}.eml`]);
    const file = join(dataDir, "mail", `${id}.eml`);
    expect(parseMail(await readFile(file, "utf8"))).toMatchObject({
      headers: { to: RECIPIENT, subject: "A warning", "message-id": `<${id}@localhost>` },
      body: "Your endpoint fails.",
    });
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(await stored(test)).toMatchObject([{ attemptCount: 1, sentAt: test.clock.now() }]);
  });
});

describe("purge-mails", () => {
  it("deletes what was sent or failed ninety days ago, nothing younger, and nothing that is still due", async () => {
    const { test, partner } = await start();
    for (let count = 0; count < 4; count += 1) await queue(test, partner);
    const ids = (await dumpTables(test))["outgoing_mails"]?.map((row) => row.split(",")[2]) ?? [];
    const now = test.clock.now().getTime();
    const end = (id: string | undefined, column: "sent_at" | "failed_at", at: number) =>
      test.db.query({
        name: `test-end-${column}`,
        text: `update outgoing_mails set ${column} = $2 where id = $1`,
        values: [id, new Date(at)],
      });
    await end(ids[0], "sent_at", now);
    await end(ids[1], "failed_at", now);
    await end(ids[2], "sent_at", now + 1);
    test.clock.advance({ hours: 24 * 90 });
    expect(await purge(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await purge(test)).toBe(2);
    expect(await stored(test)).toHaveLength(2);
  });

  it("deletes a bounded number in one statement, the oldest first", async () => {
    const { test, partner } = await start();
    for (let count = 0; count < 3; count += 1) await queue(test, partner, { subject: `Mail ${count}` });
    await send(test);
    test.clock.advance({ ms: 1 });
    const deleteTwo = () => deleteOldMails(test.db, connectionKey(partner), test.clock.now(), 2);
    expect(await deleteTwo()).toBe(2);
    expect((await dumpTables(test))["outgoing_mails"]).toEqual([expect.stringContaining("Mail 2")]);
    expect([await deleteTwo(), await deleteTwo()]).toEqual([1, 0]);
  });
});

describe("a mail server on another host", () => {
  // A name of this machine that does not look like it.
  const elsewhere = (url: string) => url.replace("127.0.0.1", "0.0.0.0");

  it("that offers no TLS, or whose offer was removed on the way, gets no mail", async () => {
    const server = await startMailServer();
    const test = await startServiceForTest({ config: { smtpUrl: elsewhere(server.url) } });
    await queue(test, await createPartner(test));
    await send(test);
    expect(server.mails).toEqual([]);
    expect(await stored(test)).toMatchObject([{ attemptCount: 1, sentAt: null }]);
  });

  it("gets it without TLS where SMTP_URL permits it", async () => {
    const server = await startMailServer();
    const smtpUrl = `${elsewhere(server.url)}?requireTLS=false`;
    const test = await startServiceForTest({ config: { smtpUrl } });
    await queue(test, await createPartner(test));
    await send(test);
    expect(server.mails).toHaveLength(1);
  });
});
