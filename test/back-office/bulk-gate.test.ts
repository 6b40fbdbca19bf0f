import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { BackOfficeCaller, Role } from "../../src/audit/grant.ts";
import { createBackOffice } from "../../src/back-office/app.ts";
import { BULK_CONNECTIONS_MAX } from "../../src/back-office/bulk-gate.ts";
import { openDatabase, type Pool } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { tryToLockImports } from "../../src/products/import/import-sql.ts";
import { untilBlocked } from "../support/blocked.ts";
import { countRows, createPartner, createProduct, type Partner } from "../support/builders.ts";
import { importCsv } from "../support/imports.ts";
import { expectProblem } from "../support/orders.ts";
import { listen, openConnection } from "../support/sockets.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let bulk: Pool;
let url: string;
/** What the listener has accepted last. */
let accepted: Socket;
let closeListener: () => Promise<unknown>;
beforeAll(async () => {
  test = await startTestService();
  const { databaseUrl } = test.context.config;
  bulk = openDatabase({
    url: databaseUrl ?? "",
    connectionsMax: BULK_CONNECTIONS_MAX,
    onIdleError: () => undefined,
  });
  const app = createBackOffice(
    test.context,
    // The caller is in the header field.
    async ({ headers }) => JSON.parse(headers.authorization ?? "") as BackOfficeCaller,
    createMetrics(),
    { bulk },
  );
  url = await listen(app);
  app.server.on("connection", (socket) => {
    accepted = socket;
  });
  closeListener = () => app.close();
});
afterAll(async () => {
  await closeListener();
  await bulk.close();
  await test.close();
});

const authorizationOf = (role: Role, merchantId: string): string => {
  const grant = role === "merchant" ? { role, merchantIds: [fromTypeId("mer", merchantId)] } : { role };
  return JSON.stringify({ type: "token", id: null, name: "Test", grants: [grant] });
};

async function aMerchant(): Promise<string> {
  const body = { name: "Merchant", accountEmail: "m@example.com" };
  return (await test.backOffice.post("/api/merchants", body)).body.id;
}

type Upload = {
  readonly sent: ClientRequest;
  answer(): Promise<{ status: number; retryAfter?: string | undefined }>;
};

/** An import whose file has begun to arrive, and ends with `sent.end`. */
function beginImport(merchantId: string, role: Role = "merchant"): Upload {
  const path = `${url}/api/merchants/${merchantId}/products/import?match=none`;
  const headers = { "content-type": "text/csv", authorization: authorizationOf(role, merchantId) };
  const sent = request(path, { method: "POST", headers, agent: false });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.on("error", () => undefined); // Its connection is closed when the import was rejected, or the test has ended.
  answered.catch(() => undefined);
  sent.write("sku,name,price\nA,Apron,1.00\n");
  onTestFinished(() => void sent.destroy());
  return {
    sent,
    answer: async () => {
      const [response] = await answered;
      response.resume();
      return { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] };
    },
  };
}

/** The status of an import that cannot begin; an import that has begun is ended without its file. */
async function statusOfNext(merchantId: string, role?: Role): Promise<number | null> {
  const next = beginImport(merchantId, role);
  const begun = new Promise<null>((resolve) =>
    setImmediate(() => fetch(`${url}/livez`).then(() => resolve(null))),
  );
  const status = await Promise.race([next.answer().then((answer) => answer.status), begun]);
  next.sent.destroy();
  return status;
}

describe("imports", () => {
  it("of a merchant run one at a time: another gets 409 at once, before its file has arrived", async () => {
    const merchantId = await aMerchant();
    const first = beginImport(merchantId);
    await expect.poll(() => statusOfNext(merchantId)).toBe(409);
    expect(await beginImport(merchantId).answer()).toEqual({ status: 409, retryAfter: "5" });
    expect(await beginImport(merchantId, "operator").answer()).toMatchObject({ status: 409 });

    first.sent.end("B,Bowl,2.00\n");
    expect(await first.answer()).toMatchObject({ status: 200 });
    const { body } = await test.backOffice.get(`/api/merchants/${merchantId}/products`);
    expect(body.data).toHaveLength(2);
    await expect.poll(() => statusOfNext(merchantId)).toBe(null);
  });

  it("cut off a client that keeps its connection open and sends on after its import was rejected", async () => {
    const merchantId = await aMerchant();
    beginImport(merchantId);
    await expect.poll(() => statusOfNext(merchantId)).toBe(409);
    const rejected = await openConnection(url);
    onTestFinished(() => rejected.close());
    rejected.send(
      [
        `POST /api/merchants/${merchantId}/products/import HTTP/1.1`,
        "Host: back-office",
        "Content-Type: text/csv",
        "Content-Length: 1000000",
        `Authorization: ${authorizationOf("merchant", merchantId)}`,
        "\r\nsku,name,price\n",
      ].join("\r\n"),
    );
    expect((await rejected.answer()).status).toBe(409);
    await rejected.closed();
  });

  it("end with their clients, so that a merchant can try again", async () => {
    const merchantId = await aMerchant();
    const first = beginImport(merchantId);
    await expect.poll(() => statusOfNext(merchantId)).toBe(409);
    first.sent.destroy();
    await expect.poll(() => statusOfNext(merchantId)).toBe(null);
  });

  it("end when their clients send nothing for 30 s, so that the merchant can begin another", async () => {
    const merchantId = await aMerchant();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stalled = beginImport(merchantId);
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
    while ((await statusOfNext(merchantId)) === null) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(30_000);
    vi.useRealTimers();
    expect(await stalled.answer()).toMatchObject({ status: 400 });
    await expect.poll(() => statusOfNext(merchantId)).toBe(null);
  });

  it("of eight merchants use what merchants may use of a process: a ninth gets 503, and the operator does not", async () => {
    const merchants = await Promise.all(Array.from({ length: 10 }, aMerchant));
    const [ninth = "", tenth = "", ...eight] = merchants;
    for (const merchantId of eight) {
      beginImport(merchantId);
      await expect.poll(() => statusOfNext(merchantId)).toBe(409);
    }
    expect(await beginImport(ninth).answer()).toEqual({ status: 503, retryAfter: "5" });
    const operators = beginImport(tenth, "operator");
    operators.sent.end();
    expect(await operators.answer()).toMatchObject({ status: 200 });
  });

  it("are not stored while another process stores those of the merchant, and lock nothing else of it", async () => {
    const merchantId = await aMerchant();
    const before = await countRows(test, "products");
    await test.db.transaction(async (tx) => {
      expect(await tryToLockImports(tx, fromTypeId("mer", merchantId) ?? "")).toBe(true);
      const answer = await importCsv(test.backOffice, merchantId, "sku,name,price\nA,Apron,1.00\n");
      expectProblem(answer, 409, "limit-reached", { limit: "runningImports", maximum: 1 });
      expect(answer.headers["retry-after"]).toBe("5");
      const renamed = await test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, {
        body: { name: "Renamed" },
      });
      expect(renamed.status).toBe(200);
    });
    expect(await countRows(test, "products")).toBe(before);
  });

  it("need no folder of the system for temporary files, which may be read-only", async () => {
    const { TMPDIR } = process.env;
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    });
    process.env["TMPDIR"] = "/proc/read-only";
    const answer = await importCsv(test.backOffice, await aMerchant(), "sku,name,price\nA,Apron,1.00\n");
    expect(answer.status).toBe(200);
  });
});

describe("exports", () => {
  /** A request for the merchant's products whose response is not read. */
  async function beginExport(merchantId: string): Promise<IncomingMessage> {
    const headers = { authorization: authorizationOf("merchant", merchantId) };
    const sent = request(`${url}/api/merchants/${merchantId}/products/export`, {
      headers,
      agent: false,
    }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    onTestFinished(() => void response.destroy());
    return response;
  }

  /** More than a client that reads nothing takes. */
  async function manyProducts(merchantId: string): Promise<void> {
    await test.db.query({
      name: "test-many-products",
      text: `
        insert into products (id, merchant_id, sku, name, description, price_minor, currency, status, created_at, updated_at)
        select gen_random_uuid(), $1, 'S' || n, 'N', repeat('long ', 2000), 100, 'EUR', 'active', $2, $2
        from generate_series(1, 3000) n`,
      values: [fromTypeId("mer", merchantId), test.clock.now()],
    });
  }

  it("of a merchant that are not read are two, and hold no connection to the database; a third gets 409", async () => {
    const merchantId = await aMerchant();
    await manyProducts(merchantId);
    const exports = [await beginExport(merchantId), await beginExport(merchantId)];
    expect(exports.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect((await beginExport(merchantId)).statusCode).toBe(409);
    await expect.poll(() => bulk.use().inUse).toBe(0);

    exports[0]?.destroy();
    await expect.poll(async () => (await beginExport(merchantId)).statusCode).toBe(200);
  });

  it("are cut off when their clients read nothing for 30 s, so that the merchant can begin another", async () => {
    const merchantId = await aMerchant();
    await manyProducts(merchantId);
    const stalled = await beginExport(merchantId);
    const closed = new Promise((resolve) => stalled.once("close", resolve));
    expect(accepted.timeout).toBe(30_000);
    const cutOff = accepted;
    await beginExport(merchantId);
    expect((await beginExport(merchantId)).statusCode).toBe(409);
    cutOff.emit("timeout"); // As when the time is over.
    await expect.poll(async () => (await beginExport(merchantId)).statusCode).toBe(200);
    stalled.resume();
    await closed;
    expect(stalled.complete, "the client knows that its file is not whole").toBe(false);
  });

  it("count until their clients have all of them", async () => {
    const merchantId = await aMerchant();
    for (let count = 0; count < 3; count += 1) {
      const response = await beginExport(merchantId);
      expect(response.statusCode).toBe(200);
      await once(response.resume(), "end");
    }
  });
});

type Begun = Promise<Response>;

type Kind = {
  readonly limit: string;
  /** How many of a merchant may be under way, and of all merchants. */
  readonly ofOne: number;
  readonly ofMerchants: number;
  /** What the work waits for in the middle, when it is locked. */
  readonly table: string;
  readonly begin: (partner: Partner) => readonly [method: string, path: string, body?: object];
};

/** Of those that merchants share, 2 of 40 places and 2 of 20 are kept for operator and warehouse. */
const KINDS: readonly Kind[] = [
  {
    ...{ limit: "runningExposures", ofOne: 8, ofMerchants: 38, table: "exposed_products" },
    begin: ({ connectionId, productIds }) => [
      "POST",
      `/api/connections/${connectionId}/products/withdraw`,
      { productIds },
    ],
  },
  {
    ...{ limit: "runningExposures", ofOne: 8, ofMerchants: 38, table: "exposed_products" },
    begin: ({ connectionId, productIds }) => [
      "POST",
      `/api/connections/${connectionId}/products/expose`,
      { productIds },
    ],
  },
  {
    ...{ limit: "runningResends", ofOne: 8, ofMerchants: 38, table: "webhook_resends" },
    begin: ({ connectionId }) => [
      "POST",
      `/api/connections/${connectionId}/resends`,
      { since: test.clock.now().toISOString() },
    ],
  },
  {
    ...{ limit: "runningStatements", ofOne: 4, ofMerchants: 38, table: "account_entries" },
    begin: ({ merchantId }) => ["GET", `/api/merchants/${merchantId}/statement`],
  },
  {
    ...{ limit: "runningExports", ofOne: 2, ofMerchants: 18, table: "account_entries" },
    begin: ({ merchantId }) => ["GET", `/api/merchants/${merchantId}/statement/export`],
  },
];

describe.each(KINDS)("$limit", ({ limit, ofOne, ofMerchants, table, begin }) => {
  /** Begins work that does not end before `run` does. Returns the statuses. */
  async function whileLocked(run: (begin: (partner: Partner, role?: Role) => Begun) => Promise<void>) {
    const all: Promise<number>[] = [];
    await test.db.transaction(async (tx) => {
      await tx.query({
        name: `test-lock-${table}`,
        text: `lock table ${table} in access exclusive mode`,
        values: [],
      });
      await run((partner, role = "merchant") => {
        const [method, path, body] = begin(partner);
        const answer = fetch(url + path, {
          method,
          headers: {
            authorization: authorizationOf(role, partner.merchantId),
            ...(body && { "content-type": "application/json" }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        all.push(
          answer.then(async (response) => {
            await response.clone().text();
            return response.status;
          }),
        );
        return answer;
      });
    });
    return Promise.all(all);
  }
  /** The first of them that is rejected; while the table is locked, no statement ends, nor is given up so soon. */
  async function firstRejected(answers: readonly Begun[]): Promise<Response> {
    const rejected: Response[] = [];
    for (const answer of answers) void answer.then((response) => response.ok || rejected.push(response));
    await expect.poll(() => rejected, { timeout: 8_000 }).not.toEqual([]);
    return rejected[0] as Response;
  }
  const partners = (count: number) => Promise.all(Array.from({ length: count }, () => createPartner(test)));

  it(`are at most ${ofOne} of a merchant: the next gets 409 at once`, async () => {
    const [one, other] = (await partners(2)) as [Partner, Partner];
    const statuses = await whileLocked(async (begin) => {
      const rejected = await firstRejected(Array.from({ length: ofOne + 1 }, () => begin(one)));
      expect(rejected.headers.get("retry-after")).toBe("5");
      expect(await rejected.json()).toMatchObject({
        status: 409,
        code: "limit-reached",
        limit,
        maximum: ofOne,
      });
      void begin(other);
    });
    expect(statuses.filter((status) => status === 409)).toHaveLength(1);
    expect(statuses.filter((status) => status < 300)).toHaveLength(ofOne + 1);
  });

  it(`are at most ${ofMerchants} of all merchants: the next gets 503 at once, and the operator does not`, async () => {
    const all = await partners(Math.ceil((ofMerchants + 1) / ofOne));
    const statuses = await whileLocked(async (begin) => {
      const begun = Array.from({ length: ofMerchants + 1 }, (_, n) => begin(all[n % all.length] as Partner));
      const rejected = await firstRejected(begun);
      expect(rejected.headers.get("retry-after")).toBe("5");
      expect(await rejected.json()).toMatchObject({
        code: "unavailable",
        detail: expect.stringContaining(`maximum of ${ofMerchants + 2}`),
      });
      void begin(all[0] as Partner, "operator");
    });
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect(statuses.filter((status) => status < 300)).toHaveLength(ofMerchants + 1);
  });
});

it("work of a merchant that waits leaves room for that of others", async () => {
  const [slow, other] = [await createPartner(test), await createPartner(test)];
  const withdraw = ({ merchantId, connectionId, productIds }: Partner) =>
    fetch(`${url}/api/connections/${connectionId}/products/withdraw`, {
      method: "POST",
      headers: {
        authorization: authorizationOf("merchant", merchantId),
        "content-type": "application/json",
      },
      body: JSON.stringify({ productIds }),
    });
  let waiting: Promise<Response>[] = [];
  await test.db.transaction(async (tx) => {
    await tx.query({
      name: "test-lock-exposures-of-merchant",
      text: "select 1 from exposed_products where merchant_id = $1 for update",
      values: [fromTypeId("mer", slow.merchantId)],
    });
    waiting = Array.from({ length: 8 }, () => withdraw(slow));
    await untilBlocked(test, 1);
    expect(await (await withdraw(other)).json()).toEqual({ changed: 2, nextCursor: null });
  });
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
});

describe("bulk exposure", () => {
  it("stores as many products in a transaction as make 2,000 deliveries", async () => {
    const partner = await createPartner(test);
    for (let count = 0; count < 100; count += 1) await createEndpoint(partner);
    const productIds = await Promise.all(
      Array.from({ length: 41 }, (_, n) => createProduct(test, partner.merchantId, { sku: `BULK-${n}` })),
    );
    const path = `/api/connections/${partner.connectionId}/products/expose`;
    expect((await test.backOffice.post(path, { productIds })).body).toMatchObject({ changed: 41 });
    const { body } = await test.backOffice.get("/api/audit-entries?action=exposeProducts");
    // Each transaction leaves an entry.
    expect(body.data.map(({ subjectIds }: { subjectIds: string[] }) => subjectIds.length)).toEqual([
      1, 20, 20,
    ]);
  });

  it("by a filter takes as many products as make 20,000 deliveries, and continues with the next request", async () => {
    const partner = await createPartner(test);
    const merchantId = fromTypeId("mer", partner.merchantId);
    await createEndpoint(partner);
    await test.db.query({
      name: "test-many-endpoints",
      text: `
        insert into webhook_endpoints (merchant_id, connection_id, id, number, url, event_types, status, in_flight_max, created_at, updated_at)
        select $1, $2, gen_random_uuid(), 1000 + n, 'https://r.example/' || n, '{product.published}', 'active', 8, $3, $3
        from generate_series(1, 199) n`,
      values: [merchantId, fromTypeId("con", partner.connectionId), test.clock.now()],
    });
    await test.db.query({
      name: "test-many-new-products",
      text: `
        insert into products (id, merchant_id, sku, name, price_minor, currency, status, created_at, updated_at)
        select gen_random_uuid(), $1, 'NEW-' || n, 'N', 100, 'EUR', 'active', $2, $2
        from generate_series(1, 101) n`,
      values: [merchantId, test.clock.now()],
    });
    const expose = (cursor?: string) =>
      test.backOffice.post(`/api/connections/${partner.connectionId}/products/expose`, {
        filter: { q: "NEW-" },
        ...(cursor !== undefined && { cursor }),
      });
    const { body: first } = await expose();
    expect(first).toEqual({ changed: 100, nextCursor: expect.any(String) });
    expect((await expose(first.nextCursor)).body).toEqual({ changed: 1, nextCursor: null });
  });
});
