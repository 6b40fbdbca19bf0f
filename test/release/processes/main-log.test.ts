import { describe, expect, it, onTestFinished } from "vitest";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { freePort } from "../../support/free-port.ts";
import { startMain } from "../../support/main-process.ts";
import { makePartner, send, startService, TOKEN } from "../../support/running-service.ts";
import { openConnection } from "../../support/sockets.ts";
import { createDatabase, startServiceForTest } from "../../support/test-service.ts";

describe("the log", () => {
  const SECRETS = {
    street: "99 Recognizable Street",
    name: "Zbigniew-Recognizable",
    email: "recognisable@merchant.example",
    externalOrderId: "recognisable-order-id",
    idempotencyKey: "recognisable-idempotency-key",
    unknownKey: "pok_recognisable-unknown-key",
    query: "recognisable-query",
    field: "recognisable-body-field",
  };

  it("is one JSON object per line, and contains no key, secret, address or body, whatever fails", async () => {
    const realUrl = await createDatabase();
    const proxy = await startDatabaseProxy(realUrl);
    onTestFinished(() => proxy.close());
    const test = await startServiceForTest({ databaseUrl: realUrl });
    const { main, api, backOffice } = await startService({ DATABASE_URL: proxy.url, LOG_LEVEL: "trace" });
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

    // A constraint that no order satisfies: the driver's error contains the whole row.
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

  it("reports in one line why the service did not start, without the database's password", async () => {
    const port = await freePort(); // No server listens there.
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

  it("has few lines while the database of a worker cannot be reached, without stacks", async () => {
    const proxy = await startDatabaseProxy(await createDatabase());
    onTestFinished(() => proxy.close());
    const { main } = await startService({ DATABASE_URL: proxy.url, ROLES: "worker" });
    const before = main.log().length;
    await proxy.cut();
    await main.logged("database unavailable, jobs will run again");
    await proxy.restore();
    const since = main.log().slice(before);
    expect(since.length).toBeLessThan(20);
    expect(JSON.stringify(since)).not.toContain('"stack"');
  });

  it("reports an unexpected error without what a driver adds to it, and the process ends with 1", async () => {
    // A module that the process loads before its own.
    const thrower = `process.on("SIGUSR2", () => Promise.reject(Object.assign(new Error("broken"), { detail: "${SECRETS.street}" })))`;
    const { main } = await startService({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}`,
    });
    main.child.kill("SIGUSR2");
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.log().at(-1)).toMatchObject({
      level: "fatal",
      msg: "unexpected error, the process ends",
      err: { message: "broken" },
    });
    expect(main.output() + main.errors()).not.toContain(SECRETS.street);
  });

  it("reports why when a port is in use, and the process ends", async () => {
    const first = await startService();
    const environment = {
      DATABASE_URL: first.databaseUrl,
      PORT: new URL(first.api).port,
      BACK_OFFICE_PORT: "0",
      OPERATOR_TOKEN: TOKEN,
    };
    const main = startMain(environment);
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    const reason = `Port ${new URL(first.api).port} is in use by another program: set PORT to a free port.`;
    expect(main.log().at(-1)).toMatchObject({
      level: "fatal",
      roles: ["api", "back-office", "worker"],
      msg: "could not start",
      reason,
    });
    expect(main.log().at(-1)).not.toHaveProperty("err");
    expect(main.errors()).toBe(`${reason}\n`);
    // A person reads the demo: one sentence is enough.
    const demo = startMain(environment, ["--demo"]);
    expect(await demo.exited()).toEqual({ code: 1, signal: null });
    expect(demo.errors()).toBe(`${reason}\n`);
    expect(demo.log()).toEqual([]);
    expect((await send(`${first.api}/v1/me`, null)).status).toBe(401);
  });
});
