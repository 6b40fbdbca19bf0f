import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  countRows,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  readEvents,
} from "../support/builders.ts";
import { importCsv } from "../support/imports.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

type Change = "expose" | "withdraw";
const request = (
  { connectionId }: Pick<Partner, "connectionId">,
  change: Change,
  body: object,
): Promise<Answer> => test.backOffice.post(`/api/connections/${connectionId}/products/${change}`, body);

/** All requests that a filter needs. Returns how many products each changed. */
async function changeAll(partner: Partner, change: Change, filter: object): Promise<number[]> {
  const counts: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const { status, body } = await request(partner, change, { filter, ...(cursor && { cursor }) });
    expect(status, JSON.stringify(body)).toBe(200);
    counts.push(body.changed);
    if (body.nextCursor === null) return counts;
    cursor = body.nextCursor;
  }
}

const publishedIds = async ({ connectionId }: Partner): Promise<string[]> =>
  (await readEvents(test, connectionId))
    .filter(({ type }) => type === "product.published")
    .map(({ data }) => data.product.id);

const exposedSkus = async ({ client }: Partner): Promise<string[]> =>
  (await client.get("/v1/products?limit=100")).body.data.map(({ sku }: { sku: string }) => sku).sort();

const createProducts = ({ merchantId }: Partner, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, at) => createProduct(test, merchantId, { sku: `BULK-${at}` })),
  );

describe("POST /api/connections/{id}/products/expose and withdraw", () => {
  it("publish each product that was not exposed once, with its deliveries", async () => {
    const partner = await createPartner(test);
    await createEndpoint(partner);
    const ids = await createProducts(partner, 4);
    await exposeProduct(test, partner.connectionId, ids[0] ?? "");
    const published = (await publishedIds(partner)).length;
    const deliveries = await countRows(test, "deliveries");
    const again = [...ids, ...ids.map((id) => id.toUpperCase())];
    expect((await request(partner, "expose", { productIds: again })).body).toEqual({
      changed: 3,
      nextCursor: null,
    });
    expect((await publishedIds(partner)).slice(published)).toEqual(ids.slice(1).sort());
    expect((await countRows(test, "deliveries")) - deliveries).toBe(3);
    const before = await dumpTables(test);
    expect((await request(partner, "expose", { productIds: ids })).body.changed).toBe(0);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("withdraw what is exposed, and it can be exposed again", async () => {
    const partner = await createPartner(test);
    const other = (
      await test.backOffice.post(`/api/merchants/${partner.merchantId}/connections`, { name: "Other" })
    ).body;
    const ids = await createProducts(partner, 3);
    await request(partner, "expose", { productIds: ids });
    await request({ connectionId: other.id }, "expose", { productIds: ids });
    expect((await request(partner, "withdraw", { productIds: ids.slice(1) })).body.changed).toBe(2);
    expect((await request(partner, "withdraw", { productIds: ids.slice(1) })).body.changed).toBe(0);
    for (const [at, status] of [200, 404, 404].entries())
      expect((await partner.client.get(`/v1/products/${ids[at]}`)).status).toBe(status);
    // The other connection still has all of them.
    expect((await request({ connectionId: other.id }, "expose", { productIds: ids })).body.changed).toBe(0);
    expect((await request(partner, "expose", { productIds: ids })).body.changed).toBe(2);
  });

  it("change each product once when requests are concurrent", async () => {
    const partner = await createPartner(test);
    const ids = await createProducts(partner, 120);
    const before = (await publishedIds(partner)).length;
    const lists = [ids, ids.toReversed(), ids, ids.toReversed()];
    const bodies = [
      ...lists.map((productIds) => ({ productIds })),
      { filter: {} },
      { filter: { q: "bulk-" } },
    ];
    const answers = await Promise.all(bodies.map((body) => request(partner, "expose", body)));
    expect(answers.reduce((sum, { body }) => sum + body.changed, 0)).toBe(120);
    expect((await publishedIds(partner)).slice(before).sort()).toEqual(ids.toSorted());
    const withdrawn = await Promise.all(
      lists.map((productIds) => request(partner, "withdraw", { productIds })),
    );
    expect(withdrawn.reduce((sum, { body }) => sum + body.changed, 0)).toBe(120);
  });

  it("leave every product published as often as it was exposed when both run at once", async () => {
    const partner = await createPartner(test);
    const ids = await createProducts(partner, 30);
    const before = (await publishedIds(partner)).length;
    const changes = (["expose", "withdraw", "expose", "withdraw", "expose"] as const).map((change) =>
      request(partner, change, { productIds: ids }),
    );
    const single = ids.slice(0, 5).map((id) => exposeProduct(test, partner.connectionId, id));
    const answers = await Promise.all(changes);
    await Promise.all(single);
    const sumOf = (wanted: Change) =>
      answers
        .filter((_, at) => (at % 2 === 0) === (wanted === "expose"))
        .reduce((sum, { body }) => sum + body.changed, 0);
    const published = (await publishedIds(partner)).slice(before);
    const exposed = (await exposedSkus(partner)).filter((sku) => /^BULK-\d+$/.test(sku)).length;
    expect(published.length - sumOf("withdraw")).toBe(exposed);
    expect(published.length).toBeGreaterThanOrEqual(sumOf("expose"));
  });

  it("change all products that fit a filter, at most 500 with each request", async () => {
    const partner = await createPartner(test);
    const rows = Array.from(
      { length: 1_010 },
      (_, at) => `BULK-${at},${at < 3 ? "Blue Mug" : "Mug"},1\n`,
    ).join("");
    await importCsv(test.backOffice, partner.merchantId, `sku,name,price\n${rows}`);
    const own = partner.productIds.length;
    await request(partner, "withdraw", { productIds: partner.productIds });
    expect(await changeAll(partner, "expose", { q: "BLUE" })).toEqual([3]);
    expect(await changeAll(partner, "expose", { sku: "BULK-7" })).toEqual([1]);
    expect(await exposedSkus(partner)).toEqual(["BULK-0", "BULK-1", "BULK-2", "BULK-7"]);
    expect(await changeAll(partner, "expose", {})).toEqual([500, 500, 6 + own]);
    expect(await changeAll(partner, "expose", {})).toEqual([0]);
    expect(await changeAll(partner, "withdraw", { q: "blue" })).toEqual([3]);
    expect(await changeAll(partner, "withdraw", {})).toEqual([500, 500, 7 + own]);
    expect(await exposedSkus(partner)).toEqual([]);
  });

  it("expose active products, and withdraw any, if the filter has no status", async () => {
    const partner = await createPartner(test);
    const [gone = "", stays = ""] = await createProducts(partner, 2);
    await test.backOffice.request("PATCH", `/api/products/${gone}`, { body: { status: "discontinued" } });
    await request(partner, "withdraw", { filter: {} });
    expect(await changeAll(partner, "expose", { q: "BULK-" })).toEqual([1]);
    expect((await partner.client.get(`/v1/products/${stays}`)).status).toBe(200);
    expect((await partner.client.get(`/v1/products/${gone}`)).status).toBe(404);
    expect(await changeAll(partner, "expose", { status: "discontinued" })).toEqual([1]);
    expect(await changeAll(partner, "withdraw", { q: "BULK-" })).toEqual([2]);
  });

  it("give a partner the products of another one, and what no partner has", async () => {
    const [partner, stranger] = [await createPartner(test), await createPartner(test)];
    const path = `/api/merchants/${partner.merchantId}/connections`;
    const [twin, third] = await Promise.all(
      ["Twin", "Third"].map(async (name) => {
        const connectionId: string = (await test.backOffice.post(path, { name })).body.id;
        return { ...partner, connectionId };
      }),
    );
    if (twin === undefined || third === undefined) throw new Error("Two connections were created.");
    const ids = await createProducts(partner, 4);
    await request(partner, "expose", { productIds: ids.slice(0, 2) });
    const own = partner.productIds.length;
    expect(await changeAll(twin, "expose", { connectionId: stranger.connectionId })).toEqual([0]);
    const mine = { connectionId: partner.connectionId };
    expect(await changeAll(twin, "expose", { ...mine, q: "bulk-" })).toEqual([2]);
    expect(await changeAll(twin, "expose", mine)).toEqual([own]);
    expect(await changeAll(third, "expose", { exposed: false })).toEqual([2]);
    expect(await changeAll(third, "expose", { ...mine, exposed: false })).toEqual([0]);
    expect(await changeAll(third, "withdraw", { connectionId: twin.connectionId, exposed: false })).toEqual([
      2,
    ]);
    expect((await request(twin, "expose", { filter: { connectionId: "con_x" } })).body.errors).toMatchObject([
      { pointer: "/filter/connectionId" },
    ]);
  });

  it("count what they would change with dryRun, and change nothing", async () => {
    const partner = await createPartner(test);
    await createEndpoint(partner);
    const ids = await createProducts(partner, 5);
    await request(partner, "expose", { productIds: ids.slice(0, 2) });
    const twice = [...ids, ...ids];
    const before = await dumpTables(test);
    const preview = async (change: Change, body: object) =>
      (await request(partner, change, { ...body, dryRun: true })).body;
    expect(await preview("expose", { productIds: twice })).toEqual({ changed: 3, nextCursor: null });
    expect(await preview("withdraw", { productIds: ids })).toEqual({ changed: 2, nextCursor: null });
    expect(await preview("expose", { filter: { q: "bulk-" } })).toEqual({ changed: 3, nextCursor: null });
    expect(await preview("withdraw", { filter: {} })).toEqual({
      changed: 2 + partner.productIds.length,
      nextCursor: null,
    });
    expect((await request(partner, "expose", { productIds: ["x"], dryRun: true })).status).toBe(422);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("are rejected with products of another merchant or an invalid request, and change nothing", async () => {
    const [partner, other] = [await createPartner(test), await createPartner(test)];
    const mine = await createProduct(test, partner.merchantId);
    const before = await dumpTables(test);
    for (const productIds of [
      [mine, other.productIds[0]],
      [mine, "x"],
    ])
      expect((await request(partner, "expose", { productIds })).body.errors).toMatchObject([
        { pointer: "/productIds/1", detail: "is not a product of the merchant" },
      ]);
    const cursor = "AAAA";
    const invalid = [
      ...[{}, { productIds: [mine], filter: {} }, { productIds: [] }, { productIds: [mine], cursor }],
      ...[
        { filter: {}, cursor },
        { filter: { q: "" } },
        { filter: { sku: "\u0000" } },
        { filter: { status: "gone" } },
      ],
      { productIds: Array.from({ length: 501 }, () => mine) },
    ];
    for (const body of invalid)
      expect((await request(partner, "withdraw", body)).status, JSON.stringify(body).slice(0, 80)).toBe(422);
    expect((await request({ connectionId: "con_x" }, "expose", { filter: {} })).status).toBe(404);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("accept a cursor for the request that returned it only", async () => {
    const partner = await createPartner(test);
    const rows = Array.from({ length: 501 }, (_, at) => `BULK-${at},Mug,1\n`).join("");
    await importCsv(test.backOffice, partner.merchantId, `sku,name,price\n${rows}`);
    const { nextCursor: cursor } = (await request(partner, "expose", { filter: { q: "mug" } })).body;
    for (const filter of [{}, { q: "mugs" }, { q: "mug", status: "discontinued" }])
      expect((await request(partner, "expose", { filter, cursor })).status).toBe(422);
    expect((await request(partner, "withdraw", { filter: { q: "mug" }, cursor })).status).toBe(422);
    expect((await request(partner, "expose", { filter: { q: "MUG" }, cursor })).body.changed).toBe(1);
  });
});
