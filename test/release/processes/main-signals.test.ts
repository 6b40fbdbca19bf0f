import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { isListening, startMain, temporaryFolder } from "../../support/main-process.ts";
import { startReceiver } from "../../support/receivers.ts";
import { eventually, makePartner, send, startService, TOKEN } from "../../support/running-service.ts";
import { exchange, openConnection, requestText } from "../../support/sockets.ts";

/** Replaces the service by a module that says that it is loaded, and never is. */
const ENDLESS_LOADING = `
  import { registerHooks } from "node:module";
  registerHooks({
    load: (url, context, next) =>
      url.endsWith("/src/service/run-service.ts")
        ? {
            format: "module",
            shortCircuit: true,
            source: 'process.stdout.write("loading"); await new Promise(() => setInterval(() => {}, 1000));',
          }
        : next(url, context),
  });`;

/** Says when the signal has arrived. */
const SIGNAL_SHOWN = `process.on("SIGTERM", () => setImmediate(() => process.stdout.write("signal")));`;

describe("SIGTERM", () => {
  it("finishes the request under way, takes no new one, and exits with 0", async () => {
    const { main, api, backOffice } = await startService();
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
    await main.logged("stopping, finishing requests in flight");
    await eventually(async () => expect(await isListening(api)).toBe(false));
    connection.send(body);
    const answer = await connection.answer();
    expect(answer.status, answer.body).toBe(201);
    expect(answer.headers["connection"], "no further request is taken over it").toBe("close");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(await main.logged("stopped")).toMatchObject({ level: "info" });
    expect(main.errors()).toBe("");
  });

  it("closes connections that only wait for a next request", async () => {
    const { main, api } = await startService();
    const connection = await openConnection(api);
    connection.send(requestText("GET /v1/nothing HTTP/1.1"));
    expect((await connection.answer()).status).toBe(404);
    main.child.kill("SIGTERM");
    await connection.closed();
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });

  // The one limit of time here is the design's own: 0 within 10 s.
  it("cuts off clients, receivers and statements that never finish, and exits with 0 within 10 s", async () => {
    const receiver = await startReceiver(() => undefined);
    onTestFinished(() => receiver.close());
    const { main, api, backOffice, databaseUrl } = await startService({
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    });
    const { key, anOrder } = await makePartner(backOffice);
    expect((await send(`${api}/v1/webhook-endpoints`, key, { url: receiver.url })).status).toBe(201);
    expect((await send(`${api}/v1/orders`, key, anOrder("stuck"))).status).toBe(201);
    await receiver.waitFor(1);
    await lockTables(databaseUrl);
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
    // A list and jobs wait for the locks: their statements may take 15 s.
    const list = await openConnection(backOffice);
    onTestFinished(() => list.close());
    list.send(requestText("GET /api/orders HTTP/1.1", { authorization: `Bearer ${TOKEN}` }));
    await untilStatementsWait(databaseUrl, 3);
    const asked = performance.now();
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
    // Not cut off: it logged its end. Requests whose statements failed with the pool may be logged around it.
    expect(await main.logged("stopped")).toMatchObject({ level: "info" });
    const left = main.log().filter(({ msg }) => msg === "part of the service not stopped, left behind");
    expect(left.map(({ step }) => step)).toContain("jobs");
  });

  it("turns /readyz to 503 first, and still accepts requests until the delay is over, the last of each connection", async () => {
    const { main, api, backOffice } = await startService({ SHUTDOWN_DELAY_MS: "3000" });
    expect((await send(`${backOffice}/readyz`, null)).status).toBe(200);
    main.child.kill("SIGTERM");
    await main.logged("stopping, finishing requests in flight");
    const responses = await Promise.all([
      exchange(backOffice, requestText("GET /readyz HTTP/1.1")),
      exchange(backOffice, requestText("GET /livez HTTP/1.1")),
      exchange(api, requestText("GET /v1/me HTTP/1.1")),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([503, 200, 401]);
    expect(responses[0].headers["retry-after"]).toBe("5");
    for (const { headers } of responses) expect(headers["connection"]).toBe("close");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });

  it("SIGINT does the same", async () => {
    const { main } = await startService();
    main.child.kill("SIGINT");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
  });

  it("SIGINT twice, as Ctrl-C under npm sends it, still drains", async () => {
    const { main } = await startService();
    main.child.kill("SIGINT");
    await main.logged("stopping, finishing requests in flight");
    main.child.kill("SIGINT");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(await main.logged("stopped")).toMatchObject({ level: "info" });
  });

  it("during the start ends it in order: nothing listens, and the embedded PostgreSQL has stopped", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const main = startMain({ DATA_DIR: dataDir, PORT: "0", BACK_OFFICE_PORT: "0", LOG_LEVEL: "info" });
    // The first line says that PostgreSQL runs. Migrations follow.
    await new Promise((resolve) => main.child.stdout?.once("data", resolve));
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    const messages = main.log().map(({ msg }) => msg);
    expect(messages[0]).toMatch(/^PostgreSQL runs on port /);
    const others = messages.slice(1).filter((message) => !message.startsWith("applying "));
    expect(others).toEqual(["PostgreSQL has stopped."]);
    expect(existsSync(join(dataDir, "postgres", "postmaster.pid"))).toBe(false);
    expect(main.errors()).toBe("");
  });

  it("during a start that fails afterwards exits with 0 as well", async () => {
    // A database that is reached, and says nothing.
    const database = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void database.close());
    await once(database, "listening");
    const { port } = database.address() as AddressInfo; // It listens on a port.
    const main = startMain({
      DATABASE_URL: `postgres://anyone:secret@127.0.0.1:${port}/orders`,
      OPERATOR_TOKEN: TOKEN,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SIGNAL_SHOWN)}`,
    });
    const [connection]: Socket[] = await once(database, "connection");
    main.child.kill("SIGTERM");
    await new Promise((resolve) => main.child.stdout?.once("data", resolve));
    connection?.destroy();
    database.close();
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect([main.output(), main.errors()]).toEqual(["signal", ""]);
  });

  it("while the service is still being loaded exits with 0, and starts nothing", async () => {
    const main = startMain({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ENDLESS_LOADING)}`,
    });
    await new Promise((resolve) => main.child.stdout?.once("data", resolve));
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect([main.output(), main.errors()]).toEqual(["loading", ""]);
  });
});

const openTestDatabase = (url: string, connectionsMax: number) => {
  const db = openDatabase({ url, connectionsMax, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  return db;
};

/** Until the test ends, each statement that uses one of these tables waits. */
async function lockTables(databaseUrl: string): Promise<void> {
  const db = openTestDatabase(databaseUrl, 1);
  await new Promise<void>((locked, failed) => {
    const transaction = db.withClient(async (client) => {
      await client.query("begin; lock table orders, deliveries, due_deliveries in access exclusive mode");
      locked();
      await new Promise<void>((over) => onTestFinished(() => over()));
      await client.query("rollback");
    });
    transaction.catch(failed);
  });
}

async function untilStatementsWait(databaseUrl: string, count: number): Promise<void> {
  const db = openTestDatabase(databaseUrl, 1);
  await untilBlocked({ db }, count);
}
