import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developerOf, personOf } from "../support/back-office-resources.ts";
import {
  createExposedProduct,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const path = (rest: string) => `/api/connections/${partner.connectionId}/${rest}`;
const send = (method: string, rest: string, body?: object): Promise<Answer> =>
  test.backOffice.request(method, path(rest), { ...(body && { body }) });
const setLimits = (limits: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });
const URL_WITH_SECRET = "https://1.1.1.1/hooks?token=t0ken";

describe("the endpoints of a connection, through the back office", () => {
  it("are the partner's: created, changed, rotated and deleted by either", async () => {
    const made = await send("POST", "webhook-endpoints", { url: URL_WITH_SECRET, mode: "test" });
    expect(made.status).toBe(201);
    const { secret, ...endpoint } = made.body;
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toMatchObject({ mode: "test", status: "active", url: "https://1.1.1.1/hooks?…" });
    const theirs = await partner.client.get(`/v1/webhook-endpoints/${endpoint.id}`);
    expect(theirs.body).toMatchObject({ id: endpoint.id, url: URL_WITH_SECRET, mode: "test" });

    const changed = await send("PATCH", `webhook-endpoints/${endpoint.id}`, {
      description: "Shop",
      eventTypes: ["order.created"],
    });
    expect(changed.body).toMatchObject({ description: "Shop", eventTypes: ["order.created"] });
    // The query is not shown, and stays.
    expect((await partner.client.get(`/v1/webhook-endpoints/${endpoint.id}`)).body.url).toBe(URL_WITH_SECRET);

    const rotated = await send("POST", `webhook-endpoints/${endpoint.id}/rotate-secret`, { overlapHours: 2 });
    expect(rotated.body.secret).not.toBe(secret);
    expect(rotated.body.previousSecretExpiresAt).toBe(
      new Date(test.clock.now().getTime() + 7_200_000).toISOString(),
    );
    const leaked = await send("POST", `webhook-endpoints/${endpoint.id}/rotate-secret`, { overlapHours: 0 });
    expect(leaked.body.previousSecretExpiresAt).toBeNull();
    for (const { body } of [changed, await send("GET", `webhook-endpoints/${endpoint.id}`)])
      expect(JSON.stringify(body)).not.toMatch(/whsec_|t0ken/);

    expect((await send("DELETE", `webhook-endpoints/${endpoint.id}`)).status).toBe(204);
    for (const [method, rest] of [
      ["DELETE", ""],
      ["GET", ""],
      ["PATCH", ""],
      ["POST", "/rotate-secret"],
    ] as const)
      expectProblem(await send(method, `webhook-endpoints/${endpoint.id}${rest}`, {}), 404, "not-found");
  });

  it("show their whole address to the partner's developers, and to no other caller", async () => {
    const { id } = await createEndpoint(partner, { url: URL_WITH_SECRET });
    const urlFor = async (client: { get(path: string): Promise<Answer> }) =>
      (await client.get(path(`webhook-endpoints/${id}`))).body.url;
    expect(await urlFor(developerOf(test, partner))).toBe(URL_WITH_SECRET);
    for (const client of [test.backOffice, personOf(test, partner.merchantId)])
      expect(await urlFor(client)).toBe("https://1.1.1.1/hooks?…");
    const [listed] = (await developerOf(test, partner).get(path("webhook-endpoints"))).body.data;
    expect(listed.url).toBe(URL_WITH_SECRET);
  });

  it("end at the limits of the connection, also when they come at once", async () => {
    await setLimits({ testEndpoints: 3 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        send("POST", "webhook-endpoints", { url: "https://1.1.1.1/a", mode: "test" }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, "limit-reached", { limit: "testEndpoints", maximum: 3 });
    expect((await send("POST", "webhook-endpoints", { url: "https://1.1.1.1/a" })).status).toBe(201);
  });

  it("reject what the partner API rejects, and change nothing", async () => {
    const { id } = await createEndpoint(partner);
    const before = await dumpTables(test);
    const wrong: [method: string, rest: string, body: object, pointer: string][] = [
      ["POST", "", { url: "http://1.1.1.1/" }, "/url"],
      ["POST", "", { url: "https://10.0.0.1/" }, "/url"],
      ["POST", "", {}, "/url"],
      ["POST", "", { url: "https://1.1.1.1/", eventTypes: ["order.lost"] }, "/eventTypes/0"],
      ["PATCH", `/${id}`, { url: "https://169.254.169.254/" }, "/url"],
      ["PATCH", `/${id}`, { maxInFlight: 101 }, "/maxInFlight"],
      ["POST", `/${id}/rotate-secret`, { overlapHours: 169 }, "/overlapHours"],
    ];
    for (const [method, rest, body, pointer] of wrong)
      expectErrors(await send(method, `webhook-endpoints${rest}`, body), [{ pointer }]);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("GET /api/connections/{id}/products", () => {
  const listed = async (query = "") => {
    const { status, body } = await send("GET", `products${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  it("lists what the partner can order, as the partner reads it", async () => {
    await createProduct(test, partner.merchantId);
    const cup = await createExposedProduct(test, partner.merchantId, partner.connectionId, {
      sku: "CUP-1",
      name: "Blue Cup",
    });
    const withdrawn = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await send("DELETE", `products/${withdrawn}`);
    const all = await listed();
    expect(all).toEqual((await partner.client.get("/v1/products")).body);
    const ids = async (query: string) => (await listed(query)).data.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual([...partner.productIds, cup]);
    expect(await ids("?q=blue%20c")).toEqual([cup]);
    expect(await ids("?sku=CUP-1&q=cup")).toEqual([cup]);
    await test.backOffice.request("PATCH", `/api/products/${cup}`, { body: { status: "discontinued" } });
    expect(await ids("?status=discontinued")).toEqual([cup]);
    expect(await ids("?status=active")).toEqual(partner.productIds);
    const first = await listed("?limit=2");
    expect(first.data).toHaveLength(2);
    expect(await ids(`?limit=2&cursor=${first.nextCursor}`)).toEqual([cup]);
    expect((await listed(`?limit=2&cursor=${first.nextCursor}`)).nextCursor).toBeNull();
  });

  it.each(["status=gone", "cursor=abc", "limit=101", "price=1"])("rejects %s", async (query) => {
    const [parameter = ""] = query.split("=");
    expectErrors(await send("GET", `products?${query}`), [{ parameter }]);
  });
});

describe("GET /api/connections/{id}/events", () => {
  const listed = async (query = "") => {
    const { status, body } = await send("GET", `events${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  type Event = { id: string; type: string };
  const typesIn = async (query: string) => (await listed(query)).data.map(({ type }: Event) => type);

  it("lists the feed backwards, filtered by order, type and mode", async () => {
    const real = await placeOrder(partner, { externalOrderId: "real" });
    const rehearsed = await placeTestOrder(partner);
    await applied(partner, rehearsed.id, "hold");
    await createEndpoint(partner);
    const { id: endpointId } = await createEndpoint(partner);
    await partner.client.post(`/v1/webhook-endpoints/${endpointId}/ping`, {});
    await placeOrder(await createPartner(test));
    const feed = (await partner.client.get("/v1/events")).body.data;
    expect((await listed()).data).toEqual(feed.toReversed());
    expect(await typesIn("?testMode=true")).toEqual(["order.onHold", "order.created"]);
    expect(await typesIn("?testMode=false")).toEqual([
      "order.created",
      "product.published",
      "product.published",
    ]);
    expect(await typesIn(`?orderId=${rehearsed.id}&type=order.onHold`)).toEqual(["order.onHold"]);
    expect((await listed("?orderId=real")).data).toEqual([
      expect.objectContaining({ type: "order.created", testMode: false }),
    ]);
    expect(await typesIn("?orderId=missing")).toEqual([]);
    for (const query of ["", `&orderId=${rehearsed.id}`]) {
      const paged: Event[] = [];
      let cursor = "";
      do {
        const page = await listed(`?limit=1${query}${cursor}`);
        paged.push(...page.data);
        cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
      } while (cursor !== "");
      expect(paged).toEqual((await listed(`?limit=100${query}`)).data);
    }
    const reads = await test.backOffice.get(`/api/audit-entries?action=listEvents&subjectId=${real.id}`);
    expect(reads.body.data.length).toBeGreaterThan(0);
    test.clock.advance({ ms: 7_200_000 });
    expect(await typesIn("?testMode=true")).toEqual([]);
  });

  it.each(["type=order.lost", "testMode=2", "cursor=abc", "limit=0", "since=x"])(
    "rejects %s",
    async (query) => {
      const [parameter = ""] = query.split("=");
      expectErrors(await send("GET", `events?${query}`), [{ parameter }]);
    },
  );
});
