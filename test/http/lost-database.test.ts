import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/platform/database/database.ts";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../support/database-proxy.ts";
import { ERRORS_BASE_URL, expectRejection } from "../support/rejections.ts";
import { createDatabase, startTestService, type TestService } from "../support/test-service.ts";

describe("a database that cannot be reached", () => {
  let proxy: DatabaseProxy;
  /** Past the proxy. */
  let direct: Database;
  let service: TestService;
  let served: Partner;

  beforeAll(async () => {
    const databaseUrl = await createDatabase();
    direct = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined });
    proxy = await startDatabaseProxy(databaseUrl);
    service = await startTestService({ databaseUrl: proxy.url, config: { errorsBaseUrl: ERRORS_BASE_URL } });
    served = await createPartner(service);
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await service.close();
    await proxy.close();
    await direct.close();
  });

  const requests = (order: {
    id: string;
    testId: string;
  }): [method: string, path: string, body?: object][] => [
    ["POST", "/v1/orders", anOrder(served)],
    ["GET", `/v1/orders/${order.id}`],
    ["POST", `/v1/orders/${order.id}/cancel`],
    ["GET", "/v1/products"],
    ["GET", `/v1/products/${served.productIds[0]}`],
    ["GET", "/v1/me"],
    ["GET", "/v1/webhook-endpoints"],
    ["GET", "/v1/deliveries"],
    ["GET", "/v1/events"],
    ["POST", `/v1/test/orders/${order.testId}/transitions`, { transition: "accept" }],
  ];

  it("is 503 unavailable with Retry-After on every route, and everything works again when it is back", async () => {
    const { id } = await placeOrder(served);
    const { id: testId } = await placeTestOrder(served);
    const all = requests({ id, testId });
    await proxy.cut();
    for (const [method, path, body] of all) {
      const answer = await served.client.request(method, path, body && { body });
      const { status, headers } = answer;
      expectRejection({ status, headers, document: answer.body }, "unavailable", path);
      expect(headers["retry-after"], `${method} ${path}`).toBe("5");
    }
    const readiness = await service.backOffice.get("/api/merchants");
    expect(readiness.status).toBe(503);
    expect(readiness.headers["retry-after"]).toBe("5");

    await proxy.restore();
    for (const [method, path, body] of all) {
      const { status, body: answer } = await served.client.request(method, path, body && { body });
      expect(status, `${method} ${path}: ${JSON.stringify(answer)}`).toBe(path === "/v1/orders" ? 201 : 200);
    }
    await proxy.cut();
  });

  it("is 503 for each of many requests at once, and none of them is half done", async () => {
    const order = anOrder(served, { externalOrderId: "while-away" });
    await proxy.cut();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => served.client.post("/v1/orders", order)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 503));
    await proxy.restore();
    expect((await served.client.get("/v1/orders/while-away")).status).toBe(404);
    expect((await served.client.post("/v1/orders", order)).status).toBe(201);
    await proxy.cut();
  });

  it("leaves the paths outside the table as they are: they need no lookup", async () => {
    await proxy.cut();
    expect((await served.client.get("/v1/nothing")).status).toBe(404);
    expect((await service.partner().get("/v1/me")).status).toBe(401);
  });

  it("while it ends the connections of the service, returns 503 or succeeds, and never 500", async () => {
    const terminate = () => direct.query({ name: "test-terminate", text: TERMINATE_OTHERS, values: [] });
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 15 === 7) await terminate();
        return served.client.post("/v1/orders", anOrder(served));
      }),
    );
    for (const { status, body } of answers) expect([201, 503], JSON.stringify(body)).toContain(status);
    expect((await served.client.get("/v1/me")).status).toBeOneOf([200, 503]);
    expect((await served.client.get("/v1/me")).status).toBe(200);
    await proxy.cut();
  });
});

const TERMINATE_OTHERS =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
