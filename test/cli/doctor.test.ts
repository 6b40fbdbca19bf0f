import { describe, expect, it } from "vitest";
import { queueMail } from "../../src/mail/mails-sql.ts";
import {
  checkClock,
  checkDistribution,
  checkPartitions,
  checkPaused,
  checkQueue,
  checkVersion,
} from "../../src/operations/checks.ts";
import { acceptDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import { ensureDayPartitions } from "../../src/platform/database/day-partitions.ts";
import { systemClock } from "../../src/platform/time.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { CHECKS_OF_A_NEW_DATABASE } from "../support/checks.ts";
import { runCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { connectionKey } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { createDatabase, startServiceForTest } from "../support/test-service.ts";
import { createEndpoint, pauseEndpoint } from "../support/webhooks.ts";

const DAY_MS = 86_400_000;

describe("the checks of doctor", () => {
  it.each([
    [checkVersion, 149_999, "fail"],
    [checkVersion, 150_000, "ok"],
    [checkVersion, 180_004, "ok"],
    [checkClock, 1_000, "ok"],
    [checkClock, -1_001, "warn"],
    [checkClock, 8_000, "warn"],
    [checkClock, 8_001, "fail"],
    [checkQueue, null, "ok"],
    [checkQueue, -5, "ok"],
    [checkQueue, 60_000, "ok"],
    [checkQueue, 60_001, "warn"],
    [checkQueue, 600_000, "warn"],
    [checkQueue, 600_001, "fail"],
    [checkPaused, 0, "ok"],
    [checkPaused, 1, "warn"],
    [checkPartitions, 0, "fail"],
    [checkPartitions, 1, "warn"],
    [checkPartitions, 2 * DAY_MS - 1, "warn"],
    [checkPartitions, 2 * DAY_MS, "ok"],
  ] as [(value: number | null) => { status: string }, number | null, string][])(
    "%o of %s",
    (check, value, status) => {
      expect(check(value)).toMatchObject({ status, message: expect.stringMatching(/./) });
    },
  );

  it("reports in which direction a clock is wrong", () => {
    expect(checkDistribution(2, true, ["orders"]).message).toMatch(/orders; run distribute/);
    expect(checkClock(5_000).message).toMatch(/5 s ahead of/);
    expect(checkClock(-180_000).message).toMatch(/3 min behind/);
  });
});

/** A database of its own with the service of the tests on it, whose clock is long behind the machine's. */
async function aPatient() {
  const databaseUrl = await createDatabase();
  const test = await startServiceForTest({ databaseUrl, config: { webhookAllowPrivateNetworks: true } });
  await ensureDayPartitions(test.db, systemClock.now()); // As every start of the service does.
  const keys = Buffer.alloc(32, 1).toString("base64");
  const examine = async (variables: Record<string, string> = {}, ...options: string[]) => {
    const environment = { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEYS: keys, ...variables };
    const { code, json } = await runCli(environment, ["doctor", "--json", ...options]);
    const checks = json().checks as { check: string; status: string; message: string }[];
    const wrong = checks.filter(({ status }) => status !== "ok");
    return { code, checks, wrong: wrong.map(({ check, status }) => `${check}: ${status}`) };
  };
  return { test, examine, databaseUrl };
}

describe("doctor", () => {
  it("finds nothing wrong with a new database, and changes nothing in it", async () => {
    const { test, examine, databaseUrl } = await aPatient();
    const before = await dumpTables(test);
    const { code, checks, wrong } = await examine();
    expect([code, wrong]).toEqual([0, []]);
    expect(checks.map(({ check }) => check)).toEqual(CHECKS_OF_A_NEW_DATABASE);
    expect(await dumpTables(test)).toEqual(before);
    const table = await runCli({ DATABASE_URL: databaseUrl }, ["doctor"]);
    expect(table.output).toMatch(/^CHECK +STATUS +MESSAGE\nconfiguration +ok /);
  });

  it("reports all errors of the configuration, and stops there", async () => {
    const { code, json } = await runCli({ PORT: "x", ROLES: "cook" }, ["doctor", "--json"]);
    expect(code).toBe(1);
    expect(json().checks).toMatchObject([
      { check: "configuration", status: "fail", message: expect.stringMatching(/^PORT must/) },
      { check: "configuration", status: "fail", message: expect.stringMatching(/^ROLES must/) },
    ]);
  });

  it("reports that the database is not available", async () => {
    const url = `postgres://u:secret-word@127.0.0.1:${await freePort()}/x`;
    const { code, output, json } = await runCli({ DATABASE_URL: url }, ["doctor", "--json"]);
    expect(code).toBe(1);
    expect(json().checks).toMatchObject([{ check: "configuration" }, { check: "database", status: "fail" }]);
    expect(output).not.toContain("secret-word");
  });

  it("reports missing migrations, and reads no table that may be missing", async () => {
    const { test, examine } = await aPatient();
    await test.db.runScript(
      "drop table due_deliveries; delete from schema_migrations where name like '0008%'",
    );
    expect(await examine()).toMatchObject({ code: 1, wrong: ["migrations: fail"] });
  });

  it("reports work that has waited for long: no worker runs", async () => {
    const { test, examine } = await aPatient();
    const partner = await createPartner(test);
    const { id } = await createEndpoint(partner);
    await placeOrder(partner);
    await placeTestOrder(partner);
    const { code, wrong } = await examine();
    expect(code).toBe(1);
    const waiting = ["orders to accept: fail", "payments to process: fail", "test orders to erase: fail"];
    expect(wrong).toEqual([...waiting, "webhooks to send: fail"]);
    await pauseEndpoint(test, id);
    const { context, clock } = test;
    const mail = { recipient: "m@example.com", subject: "Late", body: "Late", now: clock.now() };
    await queueMail(test.db, { ...connectionKey(partner), id: context.newId(), ...mail });
    clock.advance({ hours: 3 });
    await acceptDueOrders(context, [connectionKey(partner)], []);
    expect((await examine()).wrong).toEqual([
      "orders to route: fail",
      "payments to process: fail",
      "test orders to erase: fail",
      "mails to send: fail",
      "paused endpoints: warn",
    ]);
  });

  it("only warns of what does not keep the service from working", async () => {
    const { test, examine } = await aPatient();
    const { id } = await createEndpoint(await createPartner(test));
    await pauseEndpoint(test, id);
    expect(await examine()).toMatchObject({ code: 0, wrong: ["paused endpoints: warn"] });
    expect((await examine({}, "--strict")).code, "for a scheduled job").toBe(1);
  });

  it("reports missing partitions", async () => {
    const { test, examine } = await aPatient();
    const rows = await test.db.query<{ name: string }>({
      name: "test-list-attempts-partitions",
      text: "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'attempts'::regclass",
      values: [],
    });
    await test.db.runScript(rows.map(({ name }) => `drop table ${name};`).join(""));
    expect(await examine()).toMatchObject({ code: 1, wrong: ["partitions of attempts: fail"] });
  });

  it("reports that secrets are encrypted with a key that is not configured", async () => {
    const { test, examine } = await aPatient();
    await createEndpoint(await createPartner(test));
    const other = Buffer.alloc(32, 2).toString("base64");
    // The clock of the tests is behind: what it waits for is not what this is about.
    expect((await examine({ WEBHOOK_SECRET_KEYS: other })).wrong).toEqual(["secret keys: fail"]);
    expect((await examine({ WEBHOOK_SECRET_KEYS: "", DATA_DIR: "/no/such/folder" })).wrong).toEqual([
      "secret keys: fail",
    ]);
  });
});
