import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHeartbeat } from "../../src/operations/processes.ts";
import { JobNotes } from "../../src/operations/processes-sql.ts";
import { systemReader } from "../../src/operations/system.ts";
import { readVersion } from "../../src/platform/config.ts";
import { ensureDayPartitions } from "../../src/platform/database/day-partitions.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { CHECKS_OF_A_NEW_DATABASE } from "../support/checks.ts";
import { runJob } from "../support/jobs.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
  await ensureDayPartitions(test.db, test.clock.now());
});
afterAll(() => test.close());

const readSystem = async () => (await test.backOffice.get("/api/system")).body;
const checkNamed = async (name: string) => {
  const { body } = await test.backOffice.get("/api/system/checks");
  return body.checks.find(({ check }: { check: string }) => check === name);
};
/** A process that has reported once: this one, under another id. */
async function reportedProcess(notes = new JobNotes(test.clock)) {
  const { pid } = process;
  const count = async () => (await readSystem()).processes.length;
  const before = await count();
  const heartbeat = startHeartbeat(test.context, notes, 3_600_000);
  await expect.poll(count, { interval: 5 }).toBe(before + 1);
  return { heartbeat, pid };
}

describe("GET /api/system", () => {
  it("has no process and no job before one has reported, and shows the database", async () => {
    expect(await readSystem()).toMatchObject({
      processes: [],
      jobs: [],
      unreadable: [],
      database: {
        version: expect.stringMatching(/^\d+\.\d+$/),
        sizeBytes: expect.any(Number),
        connectionCount: expect.any(Number),
        connectionsMax: expect.any(Number),
      },
    });
  });

  it("shows how long work has waited, and counts what is cheap to count", async () => {
    const queue = async (name: string) =>
      (await readSystem()).queues.find((each: { name: string }) => each.name === name);
    expect(await queue("orders to accept")).toMatchObject({
      count: null,
      oldestDueAt: null,
      oldestAgeSeconds: 0,
    });
    const partner = await createPartner(test);
    await createEndpoint(partner, { kind: "pull", url: undefined });
    await placeOrder(partner);
    test.clock.advance({ hours: 2, seconds: 90 });
    expect(await queue("orders to accept")).toMatchObject({ oldestAgeSeconds: 90 });
    expect(await queue("webhooks to send"), "a program fetches it").toMatchObject({ count: 0 });
    expect(await queue("mails to send")).toMatchObject({ count: 0 });
  });

  it("shows a process while it runs, when it is missing, and after it has stopped", async () => {
    const notes = new JobNotes(test.clock);
    notes.started("send-mails");
    test.clock.advance({ seconds: 2 });
    notes.ended("send-mails", { itemCount: 3 }, 5_000);
    const { heartbeat, pid } = await reportedProcess(notes);
    const startedAt = test.clock.now().toISOString();
    const { processes, jobs } = await readSystem();
    expect(processes[0]).toMatchObject({
      status: "running",
      roles: ["api", "back-office", "worker"],
      pid,
      startedAt,
      seenAt: startedAt,
      stoppedAt: null,
    });
    expect(jobs).toEqual([
      {
        name: "send-mails",
        runningCount: 0,
        lastStartedAt: expect.any(String),
        lastDurationMs: 2_000,
        lastItemCount: 3,
        lastError: null,
        failureCount: 0,
        nextRunAt: new Date(test.clock.now().getTime() + 5_000).toISOString(),
      },
    ]);
    test.clock.advance({ seconds: 61 });
    expect(await readSystem()).toMatchObject({ jobs: [], processes: [{ status: "missing" }] });
    expect(await checkNamed("processes")).toMatchObject({
      status: "warn",
      message: expect.stringContaining(`process ${pid}`),
    });
    await heartbeat.stop();
    expect(await readSystem()).toMatchObject({
      processes: [{ status: "stopped", stoppedAt: test.clock.now().toISOString() }],
    });
    expect(await checkNamed("processes")).toMatchObject({ status: "ok", reason: null, values: {} });
  });

  it("reports that no worker runs after 20 seconds, so that a restart is no alarm, and that one runs again", async () => {
    const workers = async () => (await test.backOffice.get("/api/system/workers")).body;
    const store = async (roles: string[]) =>
      test.db.query({
        name: "test-process-of-roles",
        text: `
          insert into processes (id, roles, version, key_ids, host, pid, started_at, seen_at)
          values (gen_random_uuid(), $1, '0.0.9', '{}', 'other', 7, $2, $2)`,
        values: [roles, test.clock.now()],
      });
    await test.db.runScript("delete from processes");
    expect(await workers()).toEqual({ runningCount: 0, seenAt: null, stoppedSince: null });
    await store(["worker"]);
    const seenAt = test.clock.now().toISOString();
    expect(await workers()).toEqual({ runningCount: 1, seenAt, stoppedSince: null });
    await test.db.runScript("update processes set stopped_at = seen_at");
    test.clock.advance({ seconds: 20 });
    expect(await workers()).toMatchObject({ runningCount: 0, stoppedSince: null });
    expect(await checkNamed("workers")).toMatchObject({ status: "ok" });
    test.clock.advance({ seconds: 1 });
    expect(await workers()).toEqual({ runningCount: 0, seenAt, stoppedSince: seenAt });
    expect(await checkNamed("workers")).toMatchObject({
      status: "fail",
      reason: "no-worker",
      values: { stoppedMs: 21_000 },
    });
    await store(["api", "worker"]);
    expect(await workers()).toMatchObject({ runningCount: 1, stoppedSince: null });
  });

  it("reports that no worker runs although none has ever run, once other processes run for 20 seconds", async () => {
    await test.db.runScript("delete from processes");
    const startedAt = test.clock.now();
    const store = () =>
      test.db.query({
        name: "test-other-process",
        text: `
          insert into processes as p (id, roles, version, key_ids, host, pid, started_at, seen_at)
          values ('00000000-0000-0000-0000-000000000001', '{api,back-office}', '0.0.9', '{}', 'other', 7, $1, $2)
          on conflict (id) do update set seen_at = excluded.seen_at`,
        values: [startedAt, test.clock.now()],
      });
    await store();
    expect(await checkNamed("workers")).toMatchObject({ status: "ok" });
    test.clock.advance({ seconds: 21 });
    await store();
    expect(await checkNamed("workers")).toMatchObject({ status: "fail", reason: "no-worker" });
    await test.db.runScript("delete from processes");
  });

  it("reports a job whose last run has failed", async () => {
    const notes = new JobNotes(test.clock);
    notes.started("route-orders");
    notes.ended("route-orders", { error: new Error("no luck") }, 500);
    const { heartbeat } = await reportedProcess(notes);
    expect((await readSystem()).jobs).toMatchObject([
      { name: "route-orders", lastError: "no luck", lastItemCount: null, failureCount: 1 },
    ]);
    expect(await checkNamed("jobs")).toMatchObject({
      status: "warn",
      message: expect.stringContaining("route-orders"),
      reason: "jobs-failed",
      values: { jobs: "route-orders" },
    });
    await heartbeat.stop();
  });

  it("reports a process with another key or version than those that started later", async () => {
    const { heartbeat } = await reportedProcess();
    expect(await checkNamed("keys of processes")).toMatchObject({ status: "ok", reason: null });
    expect(await checkNamed("versions of processes")).toMatchObject({ status: "ok", reason: null });
    const store = (keyIds: string[]) =>
      test.db.query({
        name: "test-forgotten-process",
        text: `
          insert into processes (id, roles, version, key_ids, host, pid, started_at, seen_at)
          values (gen_random_uuid(), '{worker}', '0.0.9', $1, 'forgotten', 7, $2::timestamptz - interval '1 hour', $2)
          returning id`,
        values: [keyIds, test.clock.now()],
      });
    const { keyId } = test.context.secrets;
    await store(["0ddba115"]);
    expect(await checkNamed("keys of processes")).toMatchObject({
      status: "warn",
      reason: "processes-lack-keys",
      // It lacks the key of the others, and the others lack the one with which it encrypts.
      values: { processes: expect.stringContaining(`forgotten (process 7): ${keyId}`) },
    });
    expect(await checkNamed("versions of processes")).toMatchObject({
      status: "warn",
      reason: "versions-differ",
      values: { processes: "forgotten (process 7): 0.0.9", version: readVersion() },
    });
    await heartbeat.stop();
  });

  it("purges processes an hour after they were seen, and shows at most 100", async () => {
    await test.db.query({
      name: "test-many-processes",
      text: `
        insert into processes (id, roles, version, key_ids, host, pid, started_at, seen_at)
        select gen_random_uuid(), '{api}', '1', '{}', 'h', 1, $1, $1 from generate_series(1, 150)`,
      values: [test.clock.now()],
    });
    expect((await readSystem()).processes).toHaveLength(100);
    test.clock.advance({ hours: 1 });
    expect(await runJob(test, "purge-processes")).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await runJob(test, "purge-processes")).toBeGreaterThanOrEqual(150);
    expect((await readSystem()).processes).toEqual([]);
  });

  it("leaves out what cannot be read, and says so", async () => {
    await test.db.runScript("alter table outgoing_mails rename to outgoing_mails_away");
    const system = await readSystem();
    await test.db.runScript("alter table outgoing_mails_away rename to outgoing_mails");
    expect(system.unreadable).toEqual(["mails to send"]);
    expect(system.queues).toHaveLength(7);
    expect((await readSystem()).unreadable).toEqual([]);
  });

  it("shares one read with all who ask at the same time", async () => {
    let calls = 0;
    const query: TestService["db"]["query"] = (statement) => {
      calls += 1;
      return test.db.query(statement);
    };
    const reader = systemReader({ ...test.context, db: { ...test.db, query } });
    await reader.read();
    const alone = calls;
    await Promise.all(Array.from({ length: 20 }, () => reader.read()));
    expect(calls).toBeLessThanOrEqual(2 * alone);
  });
});

describe("GET /api/system/checks", () => {
  it("reports the checks of the configuration and of the database", async () => {
    const { body } = await test.backOffice.get("/api/system/checks");
    expect(body.checks.map(({ check }: { check: string }) => check)).toEqual(CHECKS_OF_A_NEW_DATABASE);
  });
});

describe("GET /api/settings", () => {
  it("shows values, and of a secret only whether it is set", async () => {
    const { body } = await test.backOffice.get("/api/settings");
    const named = (name: string) => body.data.find((setting: { name: string }) => setting.name === name);
    expect(named("RATE_LIMIT_PER_MINUTE")).toEqual({
      name: "RATE_LIMIT_PER_MINUTE",
      value: "0",
      default: "600",
      unit: "requests per minute",
      isSecret: false,
      isSet: true,
      isDefault: false,
    });
    expect(named("STRIPE_SECRET_KEY")).toMatchObject({ value: null, isSecret: true, isSet: false });
  });
});
