import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { countRows, createPartner, placeTestOrder } from "../../support/builders.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening, temporaryFolder } from "../../support/main-process.ts";
import { itOnPlainPostgres } from "../../support/plain-postgres.ts";
import { eventually, send, startService, TOKEN } from "../../support/running-service.ts";
import { createDatabase, startServiceForTest } from "../../support/test-service.ts";

describe("the back office listener", () => {
  it("serves /livez, /readyz, /openapi.json and /metrics without a key, and counts requests by route", async () => {
    const { api, backOffice } = await startService();
    expect((await send(`${backOffice}/livez`, null)).body).toEqual({ status: "ok" });
    expect((await send(`${backOffice}/readyz`, null)).body).toEqual({ status: "ok" });
    const description = await send(`${backOffice}/openapi.json`, null);
    expect(description.body.openapi).toBe("3.1.0");
    expect((await send(`${api}/v1/me`, null)).status).toBe(401);
    const metrics = await send(`${backOffice}/metrics`, null);
    expect(metrics.status).toBe(200);
    expect(metrics.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(metrics.text).toMatch(
      /^http_request_duration_seconds_count\{listener="partner-api",method="GET",route="\/v1\/me",status="401"\} 1$/m,
    );
    expect(metrics.text).toMatch(/^process_cpu_seconds_total /m);

    // Requests are counted by route and never by path, so that strangers cannot grow the metrics.
    for (let number = 0; number < 20; number += 1) {
      await send(`${api}/nothing-${number}`, null);
      await send(`${api}/v1/orders/stranger-${number}`, null);
    }
    const { text } = await send(`${backOffice}/metrics`, null);
    expect(text).not.toMatch(/nothing-|stranger-/);
    expect(text).toMatch(/_count\{listener="partner-api",method="GET",route="\(none\)",status="404"\} 20/);
    expect(text).toMatch(/_count\{.*route="\/v1\/orders\/\{orderId\}",status="401"\} 20/);
  });

  it("is alive but not ready while the database cannot be reached, and ready again afterwards", async () => {
    const proxy = await startDatabaseProxy(await createDatabase());
    onTestFinished(() => proxy.close());
    const { backOffice, api } = await startService({ DATABASE_URL: proxy.url });
    await proxy.cut();
    expect((await send(`${backOffice}/livez`, null)).status).toBe(200);
    const rejected = await send(`${backOffice}/readyz`, null);
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get("retry-after")).toBe("5");
    expect(rejected.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    await proxy.restore();
    await eventually(async () => expect((await send(`${backOffice}/readyz`, null)).status).toBe(200));
    expect((await send(`${api}/v1/nothing`, null)).status).toBe(404);
  });

  it("serves the metrics of the process within a second while the database cannot be reached or hangs", async () => {
    const proxy = await startDatabaseProxy(await createDatabase());
    onTestFinished(() => proxy.close());
    const { main, backOffice } = await startService({ DATABASE_URL: proxy.url });
    const scrape = async () => {
      const answer = await send(`${backOffice}/metrics`, null);
      expect(answer.status).toBe(200);
      expect(answer.text).toMatch(/^process_cpu_seconds_total /m);
      expect(answer.text).toMatch(/^partner_orders_build_info\{version="[\d.]+",node="24\.[\d.]+"\} 1$/m);
      expect(answer.text).toMatch(/^partner_orders_database_connections_max\{pool="health"\} 2$/m);
      return answer.text;
    };
    const complete = /^partner_orders_mails_queued 0$/m;
    expect(await scrape()).toMatch(complete);
    expect(await scrape()).toMatch(/^partner_orders_database_metrics_up 1$/m);
    proxy.hang();
    const asked = performance.now();
    const [hung, again] = await Promise.all([scrape(), scrape()]);
    // The one limit of time here is the promise itself, with room for a busy machine.
    expect(performance.now() - asked).toBeLessThan(4_000);
    const ready = await send(`${backOffice}/readyz`, null);
    expect(ready.status).toBe(503);
    await proxy.cut();
    for (const text of [hung, again, await scrape()]) {
      expect(text).not.toMatch(/^partner_orders_(mails_queued|orders_held|partitions_ahead_seconds)[ {]/m);
      expect(text).toMatch(/^partner_orders_database_metrics_up 0$/m);
    }
    await proxy.restore();
    await eventually(async () => expect(await scrape()).toMatch(complete));
    expect(main.log().filter(({ msg }) => msg === "metrics of the database not read").length).toBeLessThan(
      30,
    );
  });
});

describe("a role alone", () => {
  it("api: serves partners, can be watched, has no back office, and does none of the worker's jobs", async () => {
    const databaseUrl = await createDatabase();
    const test = await startServiceForTest({ databaseUrl });
    const { key } = await createPartner(test);
    const { api, backOffice } = await startService({ ROLES: "api", DATABASE_URL: databaseUrl });
    expect((await send(`${api}/v1/me`, key)).status).toBe(200);
    for (const path of ["/livez", "/readyz", "/metrics"])
      expect((await send(backOffice + path, null)).status, path).toBe(200);
    await expectNoBackOffice(backOffice);
    expect((await send(`${backOffice}/metrics`, null)).text).not.toMatch(/job_items_total\{/);
  });

  itOnPlainPostgres("On Citus the autovacuum of each node gathers the statistics of its shards.")(
    "api: gathers the first statistics of a table that has grown, so that it does not depend on a worker",
    async () => {
      const databaseUrl = await createDatabase();
      const test = await startServiceForTest({ databaseUrl });
      const isAnalyzed = async () => {
        const [row] = await test.db.query<{ rows: number }>({
          name: "test-rows-by-statistics",
          text: "select reltuples::integer as rows from pg_class where oid = 'audit_entries'::regclass",
          values: [],
        });
        return row?.rows === 5_000;
      };
      await test.db.runScript(`
      insert into audit_entries (merchant_id, id, action, actor_kind, subject_type, subject_ids, details, created_at)
      select gen_random_uuid(), gen_random_uuid(), 'a', 'operator', 'ord', '{}', '{}', now() from generate_series(1, 5000)`);
      await startService({ ROLES: "api", DATABASE_URL: databaseUrl });
      await eventually(async () => expect(await isAnalyzed()).toBe(true));
    },
  );

  it("back-office: serves operators, and no partner", async () => {
    const port = await freePort();
    const { main, backOffice } = await startService({ ROLES: "back-office", PORT: String(port) });
    expect((await send(`${backOffice}/api/merchants`, TOKEN)).status).toBe(200);
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(200);
    expect(main.log().find(({ msg }) => msg === "ready")).toMatchObject({
      partnerApiUrl: null,
      roles: ["back-office"],
    });
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  });

  it("worker: does its jobs, can be watched, and serves neither", async () => {
    const databaseUrl = await createDatabase();
    const test = await startServiceForTest({ databaseUrl });
    const partner = await createPartner(test);
    await placeTestOrder(partner); // The clock of the tests is behind the machine's, so its time is long over.
    expect(await countRows(test, "orders")).toBe(1);
    const port = await freePort();
    const { backOffice } = await startService({
      ROLES: "worker",
      PORT: String(port),
      DATABASE_URL: databaseUrl,
    });
    await eventually(async () => expect(await countRows(test, "orders")).toBe(0));
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(200);
    expect((await send(`${backOffice}/metrics`, null)).text).toMatch(
      /^partner_orders_job_items_total\{job="erase-test-orders"\} 1$/m,
    );
    await expectNoBackOffice(backOffice);
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  });

  it("worker: several of them run on one machine, although one port is taken", async () => {
    const databaseUrl = await createDatabase();
    const first = await startService({ ROLES: "worker", DATABASE_URL: databaseUrl });
    const second = await startService({
      ROLES: "worker",
      DATABASE_URL: databaseUrl,
      BACK_OFFICE_PORT: new URL(first.backOffice).port,
    });
    expect(second.main.log().find(({ level }) => level === "warn")?.msg).toMatch(
      /health listener not started/,
    );
  });

  async function expectNoBackOffice(backOffice: string): Promise<void> {
    for (const path of ["/api/merchants", "/openapi.json", "/errors/not-found", "/", "/v1/me"]) {
      const { status, headers, body } = await send(backOffice + path, TOKEN);
      expect(status, path).toBe(404);
      expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
      expect(headers.get("x-request-id")).toMatch(/./);
      expect(body.detail).toBe(`No route matches GET ${path}.`);
    }
  }
});

describe("the operator token", () => {
  it("is made at the first start, and kept in DATA_DIR where only its user may read it", async () => {
    const dataDir = join(await temporaryFolder(), "made", "data");
    const databaseUrl = await createDatabase();
    const environment = { OPERATOR_TOKEN: "", DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
    const first = await startService(environment);
    const file = join(dataDir, "operator-token");
    const token = await readFile(file, "utf8");
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await send(`${first.backOffice}/api/merchants`, token)).status).toBe(200);
    first.main.child.kill("SIGTERM");
    await first.main.exited();

    const second = await startService(environment);
    expect(await readFile(file, "utf8")).toBe(token);
    expect((await send(`${second.backOffice}/api/merchants`, token)).status).toBe(200);
    for (const { main } of [first, second]) expect(main.output() + main.errors()).not.toContain(token);
  });

  it("is the one of OPERATOR_TOKEN when that is set; then none is made", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const { backOffice } = await startService({ DATA_DIR: dataDir });
    expect((await send(`${backOffice}/api/merchants`, TOKEN)).status).toBe(200);
    expect((await send(`${backOffice}/api/merchants`, `${TOKEN}x`)).status).toBe(401);
    expect(existsSync(join(dataDir, "operator-token"))).toBe(false);
  });

  it("works with 16 characters, with a warning that it should have 32", async () => {
    const { main, backOffice } = await startService({ OPERATOR_TOKEN: "sixteen-char-key" });
    expect(await main.logged("operator token is short, use a longer one")).toMatchObject({
      level: "warn",
      characters: 32,
    });
    expect((await send(`${backOffice}/api/merchants`, "sixteen-char-key")).status).toBe(200);
  });
});
