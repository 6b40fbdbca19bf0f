import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { anAddress, countRows, createPartner, placeTestOrder } from "./support/builders.ts";
import { startDatabaseProxy } from "./support/database-proxy.ts";
import {
  freePort,
  isListening,
  type MainProcess,
  startMain,
  temporaryFolder,
} from "./support/main-process.ts";
import { openConnection, requestText } from "./support/sockets.ts";
import { createDatabase, startServiceForTest } from "./support/test-service.ts";

const TOKEN = "operator-token-of-this-test-only";

type Started = { main: MainProcess; api: string; backOffice: string; databaseUrl: string };

/** Starts the service and waits until it is ready. */
async function start(environment: Record<string, string> = {}): Promise<Started> {
  const databaseUrl = environment["DATABASE_URL"] ?? (await createDatabase());
  const backOfficePort = await freePort();
  const main = startMain({
    DATABASE_URL: databaseUrl,
    PORT: "0",
    BACK_OFFICE_PORT: String(backOfficePort),
    OPERATOR_TOKEN: TOKEN,
    DATA_DIR: join(await temporaryFolder(), "data"),
    ...environment,
  });
  const { partnerApiUrl } = await main.logged("ready");
  return { main, api: String(partnerApiUrl), backOffice: `http://127.0.0.1:${backOfficePort}`, databaseUrl };
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
type Answer = { status: number; headers: Headers; text: string; body: any };

async function send(url: string, key: string | null, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

/** Makes a merchant, a connection, a key and a product by the back office of a process. */
async function makePartner(backOffice: string) {
  const make = async (path: string, body: object) => (await send(backOffice + path, TOKEN, body)).body;
  const merchant = await make("/api/merchants", { name: "Merchant", accountEmail: "merchant@example.com" });
  const connection = await make(`/api/merchants/${merchant.id}/connections`, { name: "Partner" });
  const { key } = await make(`/api/connections/${connection.id}/keys`, {});
  const price = { amount: "10.00", currency: "EUR" };
  const product = await make(`/api/merchants/${merchant.id}/products`, { sku: "S", name: "P", price });
  const exposed = await fetch(`${backOffice}/api/connections/${connection.id}/products/${product.id}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(exposed.status).toBe(200);
  const anOrder = (externalOrderId: string, address: object = {}) => ({
    externalOrderId,
    lines: [{ productId: product.id, quantity: 1 }],
    shippingAddress: anAddress(address),
  });
  return { key: String(key), connectionId: String(connection.id), anOrder };
}

/** Looks again until it holds. */
const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 20_000, interval: 50 });

describe("the back office listener", () => {
  it("serves /livez, /readyz, /metrics and /openapi.json without a key", async () => {
    const { api, backOffice } = await start();
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
  });

  it("counts requests by route and never by path, so that strangers cannot grow the metrics", async () => {
    const { api, backOffice } = await start();
    for (let number = 0; number < 20; number += 1) {
      await send(`${api}/nothing-${number}`, null);
      await send(`${api}/v1/orders/stranger-${number}`, null);
    }
    const { text } = await send(`${backOffice}/metrics`, null);
    expect(text).not.toMatch(/nothing-|stranger-/);
    expect(text).toMatch(/_count\{listener="partner-api",method="GET",route="\(none\)",status="404"\} 20/);
    expect(text).toMatch(/_count\{.*route="\/v1\/orders\/\{orderId\}",status="401"\} 20/);
  });

  it("is alive but not ready while the database is gone, and ready again when it is back", async () => {
    const proxy = await startDatabaseProxy(await createDatabase());
    onTestFinished(() => proxy.close());
    const { backOffice, api } = await start({ DATABASE_URL: proxy.url });
    await proxy.cut();
    expect((await send(`${backOffice}/livez`, null)).status).toBe(200);
    const refused = await send(`${backOffice}/readyz`, null);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    await proxy.restore();
    await eventually(async () => expect((await send(`${backOffice}/readyz`, null)).status).toBe(200));
    expect((await send(`${api}/v1/nothing`, null)).status).toBe(404);
  });
});

describe("SIGTERM", () => {
  it("finishes the request under way, takes no new one, and exits with 0", async () => {
    const { main, api, backOffice } = await start();
    const { key, anOrder } = await makePartner(backOffice);
    const body = JSON.stringify(anOrder("under-way"));
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": String(body.length),
      expect: "100-continue",
    };
    const connection = await openConnection(api);
    connection.send(requestText("POST /v1/orders HTTP/1.1", headers));
    // "100 Continue" says that the service has the request in hand.
    await new Promise((resolve) => connection.socket.once("data", resolve));
    main.child.kill("SIGTERM");
    await main.logged("stopping: requests under way are finished");
    await eventually(async () => expect(await isListening(api)).toBe(false));
    connection.send(body);
    const answer = await connection.answer();
    expect(answer.status, answer.body).toBe(201);
    expect(answer.headers["connection"], "no further request is taken over it").toBe("close");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(main.log().at(-1)).toMatchObject({ msg: "stopped", level: "info" });
    expect(main.errors()).toBe("");
  });

  it("closes connections that only wait for a next request", async () => {
    const { main, api } = await start();
    const connection = await openConnection(api);
    connection.send(requestText("GET /v1/nothing HTTP/1.1"));
    expect((await connection.answer()).status).toBe(404);
    main.child.kill("SIGTERM");
    await connection.closed();
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });

  // The one limit of time here is the design's own: 0 within 10 s.
  it("cuts off clients that never finish, on both listeners, and exits with 0 within 10 s", async () => {
    const { main, api, backOffice } = await start();
    const { key } = await makePartner(backOffice);
    for (const [url, path, token] of [
      [api, "/v1/orders", key],
      [backOffice, "/api/merchants", TOKEN],
    ] as const) {
      const connection = await openConnection(url);
      onTestFinished(() => connection.close());
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": "100",
        expect: "100-continue",
      };
      connection.send(requestText(`POST ${path} HTTP/1.1`, headers));
      await new Promise((resolve) => connection.socket.once("data", resolve));
    }
    const asked = performance.now();
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
  });

  it("SIGINT does the same", async () => {
    const { main } = await start();
    main.child.kill("SIGINT");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });

  it("SIGINT twice, as Ctrl-C under npm sends it, still drains", async () => {
    const { main } = await start();
    main.child.kill("SIGINT");
    await main.logged("stopping: requests under way are finished");
    main.child.kill("SIGINT");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(main.log().at(-1)?.msg).toBe("stopped");
  });

  it("right after the start stops as well", async () => {
    const main = startMain({
      DATABASE_URL: await createDatabase(),
      PORT: "0",
      BACK_OFFICE_PORT: "0",
      OPERATOR_TOKEN: TOKEN,
      LOG_LEVEL: "info",
    });
    await new Promise((resolve) => main.child.stdout?.once("data", resolve));
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });
});

describe("a role alone", () => {
  it("api: serves partners, can be watched, and has no back office", async () => {
    const databaseUrl = await createDatabase();
    const test = await startServiceForTest({ databaseUrl });
    const { key } = await createPartner(test);
    const { api, backOffice } = await start({ ROLES: "api", DATABASE_URL: databaseUrl });
    expect((await send(`${api}/v1/me`, key)).status).toBe(200);
    for (const path of ["/livez", "/readyz", "/metrics"])
      expect((await send(backOffice + path, null)).status, path).toBe(200);
    await expectNoBackOffice(backOffice);
  });

  it("back-office: serves operators, and no partner", async () => {
    const port = await freePort();
    const { main, backOffice } = await start({ ROLES: "back-office", PORT: String(port) });
    expect((await send(`${backOffice}/api/merchants`, TOKEN)).status).toBe(200);
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(200);
    expect(main.log().find(({ msg }) => msg === "ready")).toMatchObject({
      partnerApiUrl: null,
      roles: ["back-office"],
    });
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  });

  it("worker: does its chores, can be watched, and serves neither", async () => {
    const databaseUrl = await createDatabase();
    const test = await startServiceForTest({ databaseUrl });
    const partner = await createPartner(test);
    await placeTestOrder(partner); // The clock of the tests is behind the machine's, so its time is long over.
    expect(await countRows(test, "orders")).toBe(1);
    const port = await freePort();
    const { backOffice } = await start({ ROLES: "worker", PORT: String(port), DATABASE_URL: databaseUrl });
    await eventually(async () => expect(await countRows(test, "orders")).toBe(0));
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(200);
    expect((await send(`${backOffice}/metrics`, null)).text).toMatch(
      /^partner_orders_chore_items_total\{chore="erase-test-orders"\} 1$/m,
    );
    await expectNoBackOffice(backOffice);
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  });

  it("api: does none of the worker's chores", async () => {
    const { backOffice } = await start({ ROLES: "api" });
    expect((await send(`${backOffice}/metrics`, null)).text).not.toMatch(/chore_items_total\{/);
  });

  it("worker: several of them run on one machine, although one port is taken", async () => {
    const databaseUrl = await createDatabase();
    const first = await start({ ROLES: "worker", DATABASE_URL: databaseUrl });
    const second = await start({
      ROLES: "worker",
      DATABASE_URL: databaseUrl,
      BACK_OFFICE_PORT: new URL(first.backOffice).port,
    });
    expect(second.main.log().find(({ level }) => level === "warn")?.msg).toMatch(/cannot be watched/);
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
    const first = await start(environment);
    const file = join(dataDir, "operator-token");
    const token = await readFile(file, "utf8");
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await send(`${first.backOffice}/api/merchants`, token)).status).toBe(200);
    first.main.child.kill("SIGTERM");
    await first.main.exited();

    const second = await start(environment);
    expect(await readFile(file, "utf8")).toBe(token);
    expect((await send(`${second.backOffice}/api/merchants`, token)).status).toBe(200);
    for (const { main } of [first, second]) expect(main.output() + main.errors()).not.toContain(token);
  });

  it("is the one of OPERATOR_TOKEN when that is set; then none is made", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const { backOffice } = await start({ DATA_DIR: dataDir });
    expect((await send(`${backOffice}/api/merchants`, TOKEN)).status).toBe(200);
    expect((await send(`${backOffice}/api/merchants`, `${TOKEN}x`)).status).toBe(401);
    expect(existsSync(join(dataDir, "operator-token"))).toBe(false);
  });
});

describe("the log", () => {
  const SECRETS = {
    street: "99 Recognisable Lane",
    name: "Zbigniew-Recognisable",
    email: "recognisable@merchant.example",
    externalOrderId: "recognisable-order-id",
    idempotencyKey: "recognisable-idempotency-key",
    unknownKey: "pok_recognisable-unknown-key",
    query: "recognisable-query",
    field: "recognisable-body-field",
  };

  it("is JSON, a line each, and holds no key, secret, address or body, whatever goes wrong", async () => {
    const realUrl = await createDatabase();
    const proxy = await startDatabaseProxy(realUrl);
    onTestFinished(() => proxy.close());
    const test = await startServiceForTest({ databaseUrl: realUrl });
    const { main, api, backOffice } = await start({ DATABASE_URL: proxy.url, LOG_LEVEL: "trace" });
    const { key, anOrder } = await makePartner(backOffice);
    const order = anOrder(SECRETS.externalOrderId, { address1: SECRETS.street, lastName: SECRETS.name });
    const orders = `${api}/v1/orders`;
    expect((await send(orders, key, order)).status).toBe(201);
    expect((await send(`${orders}/${SECRETS.externalOrderId}`, key)).status).toBe(200);
    expect((await send(`${api}/v1/me?token=${SECRETS.query}`, SECRETS.unknownKey)).status).toBe(401);
    expect((await send(`${api}/${SECRETS.query}`, key)).status).toBe(404);
    expect((await send(orders, key, { [SECRETS.field]: SECRETS.street })).status).toBe(422);
    const broken = await fetch(orders, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": SECRETS.idempotencyKey,
      },
      body: `{"${SECRETS.field}": "${SECRETS.street}`,
    });
    expect(broken.status).toBe(400);
    await send(`${backOffice}/api/merchants`, TOKEN, { name: SECRETS.name, accountEmail: SECRETS.email });
    const garbage = await openConnection(api);
    garbage.send(`GARBAGE ${SECRETS.query}\r\nauthorization: Bearer ${key}\r\n\r\n`);
    await garbage.closed();

    // A constraint that no order fits: the driver's error holds the whole row.
    await test.db.runScript("alter table orders add constraint nothing_fits check (false) not valid");
    const failing = anOrder(`${SECRETS.externalOrderId}-2`, {
      address1: SECRETS.street,
      lastName: SECRETS.name,
    });
    expect((await send(orders, key, failing)).status).toBe(500);
    await proxy.cut();
    expect((await send(orders, key, failing)).status).toBe(503);
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(503);
    await proxy.restore();

    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    const failures = main.log().filter(({ msg }) => msg === "request failed");
    expect(failures.map(({ level }) => level)).toEqual(["error", "error"]);
    expect(failures[0]).toMatchObject({ method: "POST", route: "/v1/orders", reqId: expect.any(String) });
    for (const line of main.log()) {
      expect(line).toMatchObject({
        service: "partner-orders",
        level: expect.any(String),
        msg: expect.any(String),
      });
      expect(line["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const all = main.output() + main.errors();
    const password = new URL(realUrl).password;
    expect(password).not.toBe("");
    for (const secret of [...Object.values(SECRETS), key, TOKEN, password])
      expect(all, "the whole log").not.toContain(secret);
    expect(all).not.toMatch(/Failing row|parameters?"|"body"|authorization/i);
  });

  it("tells in one line why the service did not start, without the database's password", async () => {
    const port = await freePort(); // Nobody listens there.
    const main = startMain({
      DATABASE_URL: `postgres://user:recognisable-password@127.0.0.1:${port}/orders`,
      PORT: "0",
      BACK_OFFICE_PORT: "0",
      OPERATOR_TOKEN: TOKEN,
    });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.log().map(({ level, msg }) => [level, msg])).toEqual([["fatal", "could not start"]]);
    expect(main.output() + main.errors()).not.toContain("recognisable-password");
  });

  it("tells why when a port is taken, and the process ends", async () => {
    const first = await start();
    const main = startMain({
      DATABASE_URL: first.databaseUrl,
      PORT: new URL(first.api).port,
      BACK_OFFICE_PORT: "0",
      OPERATOR_TOKEN: TOKEN,
    });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.log().at(-1)).toMatchObject({ level: "fatal", msg: "could not start" });
    expect((await send(`${first.api}/v1/me`, null)).status).toBe(401);
  });
});
