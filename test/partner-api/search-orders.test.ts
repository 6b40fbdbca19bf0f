import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { searchOrders, toOrderSearch } from "../../src/orders/reading/search-orders.ts";
import { ROWS_READ_MAX } from "../../src/platform/wire/cursor.ts";
import { createKey, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { copyOrder } from "../support/many-orders.ts";
import { connectionKey, expectErrors, failPayment, readOrder } from "../support/orders.ts";
import { operationApplied } from "../support/real-orders.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const request = (body: object = {}, client: Client = partner.client) =>
  client.post("/v1/orders/search", body);
async function search(body: object = {}, client: Client = partner.client) {
  const answer = await request(body, client);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}
const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
const found = async (body: object = {}, client?: Client) => idsOf(await search(body, client));
const now = () => test.clock.now().toISOString();
/** Places an order a second after the one before. */
async function place(fields: object = {}): Promise<string> {
  test.clock.advance({ seconds: 1 });
  return (await placeOrder(partner, fields)).id;
}
async function allPages(body: object): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: object = {}; ; ) {
    const page = await search({ ...body, ...cursor });
    pages.push(idsOf(page));
    if (page.nextCursor === null) return pages;
    cursor = { cursor: page.nextCursor };
  }
}

describe("POST /v1/orders/search", () => {
  it("returns all orders of the connection as GET returns them, newest first", async () => {
    const ids = [await place({ note: "x" }), await place(), (await placeTestOrder(partner)).id];
    const page = await search();
    expect(page).toEqual({
      data: await Promise.all(ids.toReversed().map((id) => readOrder(partner, id))),
      nextCursor: null,
    });
  });

  it("finds nothing of another connection, whatever is searched for", async () => {
    const other = await createPartner(test);
    const { id, externalOrderId } = await placeOrder(other);
    expect(await found()).toEqual([]);
    expect(await found({ externalOrderIds: [externalOrderId, id] })).toEqual([]);
  });

  it("needs a key, and is no other method's", async () => {
    expect((await request({}, test.partner())).status).toBe(401);
    for (const method of ["PUT", "DELETE", "PATCH"])
      expect((await partner.client.request(method, "/v1/orders/search")).status).toBe(404);
  });

  it("leaves the specified routes to an order with the external id `search`", async () => {
    const id = await place({ externalOrderId: "search" });
    expect((await partner.client.get("/v1/orders/search")).body.id).toBe(id);
    expect((await partner.client.post("/v1/orders/search/cancel")).body).toMatchObject({
      id,
      status: "CANCELED",
    });
  });

  it("filters by status and by hold", async () => {
    const [open, held, canceled] = [await place(), await place(), await place()];
    await operationApplied(test, held, "hold");
    await operationApplied(test, canceled, "cancel");
    expect(await found({ status: ["NEW"] })).toEqual([held, open]);
    expect(await found({ status: ["CANCELED", "COMPLETED"] })).toEqual([canceled]);
    expect(await found({ onHold: true })).toEqual([held]);
    expect(await found({ onHold: false })).toEqual([canceled, open]);
    expect(await found({ onHold: false, status: ["NEW"] })).toEqual([open]);
  });

  it("agrees with what it shows about a deadline that has passed, before and after a worker has stored it", async () => {
    const [open, failed] = [await place(), await place()];
    await failPayment(test, partner, failed);
    test.clock.advance({ hours: 2 });
    const [due, changed] = [await readOrder(partner, open), await readOrder(partner, failed)];
    expect([due.status, changed.status]).toEqual(["ACCEPTED", "NEW"]);
    for (const job of [null, "accept-orders"]) {
      if (job !== null) await runJob(test, job);
      expect(await found({ status: ["ACCEPTED"] })).toEqual([open]);
      expect(await found({ status: ["NEW"] })).toEqual([failed]);
      expect(await found({ updatedSince: due.updatedAt })).toEqual([open]);
      expect((await search({ status: ["ACCEPTED"] })).data).toEqual([due]);
    }
    expect(changed.updatedAt < due.updatedAt).toBe(true);
  });

  it("filters by time of creation and of the last change: since is included, until is not", async () => {
    const first = await place();
    const createdAt = now();
    const second = await place();
    const secondAt = now();
    await place();
    expect(await found({ createdSince: createdAt, createdUntil: secondAt })).toEqual([first]);
    expect(await found({ createdSince: secondAt })).toHaveLength(2);
    expect(await found({ createdUntil: createdAt })).toEqual([]);
    expect(await found({ createdSince: "2999-12-31T23:59:60Z" })).toEqual([]);
    expect(await found({ createdUntil: "0000-01-01T00:00:00Z" })).toEqual([]);
    expect(await found({ createdSince: "2999-12-31T23:59:59+02" })).toEqual([]);
    test.clock.advance({ minutes: 1 });
    await operationApplied(test, second, "hold");
    expect(await found({ updatedSince: now() })).toEqual([second]);
    expect(await found({ updatedSince: now(), createdUntil: secondAt })).toEqual([]);
  });

  it("filters by the partner's ids, up to 100, and pages through them", async () => {
    const ids = [await place({ externalOrderId: "a" }), await place({ externalOrderId: "b" }), await place()];
    expect(await found({ externalOrderIds: ["b", "a", "missing", "a"] })).toEqual([ids[1], ids[0]]);
    expect(await allPages({ externalOrderIds: ["a", "b"], limit: 1 })).toEqual([[ids[1]], [ids[0]]]);
    expect(await found({ externalOrderIds: ["a", "b"], status: ["CANCELED"] })).toEqual([]);
    const names = Array.from({ length: 101 }, (_, n) => `missing-${n}`);
    expect(await found({ externalOrderIds: names.slice(1) })).toEqual([]);
    expectErrors(await request({ externalOrderIds: names }), [{ pointer: "/externalOrderIds" }]);
  });

  it("finds test orders until their erasure, and with testMode only these or only real ones", async () => {
    const real = await place();
    const { id } = await placeTestOrder(partner);
    expect(await found({ testMode: true })).toEqual([id]);
    expect(await found({ testMode: false })).toEqual([real]);
    test.clock.advance({ hours: 2 });
    expect(await found()).toEqual([real]);
    expect(await found({ testMode: true })).toEqual([]);
  });

  it("finds no real order with a test key", async () => {
    const real = await place({ externalOrderId: "real" });
    const { id } = await placeTestOrder(partner);
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    const client = test.partner(key);
    expect(await found({}, client)).toEqual([id]);
    expect(await found({ testMode: true }, client)).toEqual([id]);
    for (const body of [
      { testMode: false },
      { externalOrderIds: ["real"] },
      { status: ["NEW"], testMode: false },
    ])
      expect(await found(body, client)).not.toContain(real);
  });

  it("pages through all orders once, also when new ones are placed and others change in between", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.unshift(await place());
    const first = await search({ limit: 3 });
    await place();
    await operationApplied(test, ids[4] ?? "", "hold");
    const second = await search({ limit: 2, cursor: first.nextCursor });
    const third = await search({ limit: 3, cursor: second.nextCursor });
    expect([...idsOf(first), ...idsOf(second), ...idsOf(third)]).toEqual(ids);
    expect(third.nextCursor).toBeNull();
  });

  it("rejects a cursor of another search, of another list, and a damaged one", async () => {
    for (let n = 0; n < 3; n += 1) await place();
    const { nextCursor } = await search({ limit: 1, status: ["NEW", "ACCEPTED"] });
    expect((await request({ limit: 2, status: ["ACCEPTED", "NEW"], cursor: nextCursor })).status).toBe(200);
    const products = (await partner.client.get("/v1/products?limit=1")).body.nextCursor;
    for (const body of [
      { cursor: nextCursor },
      { status: ["NEW"], cursor: nextCursor },
      { status: ["NEW", "ACCEPTED"], onHold: false, cursor: nextCursor },
      { cursor: products },
      { cursor: `${nextCursor}x` },
    ])
      expectErrors(await request(body), [{ pointer: "/cursor" }]);
  });

  it("reports all errors of a body", async () => {
    const body = {
      status: ["DONE"],
      onHold: "yes",
      testMode: 1,
      createdSince: "yesterday",
      createdUntil: "2026-01-01",
      updatedSince: "",
      externalOrderIds: [""],
      limit: 101,
      cursor: "",
    };
    expectErrors(
      await request(body),
      [
        "/status/0",
        "/onHold",
        "/testMode",
        "/createdSince",
        "/createdUntil",
        "/updatedSince",
        "/externalOrderIds/0",
        "/limit",
        "/cursor",
      ].map((pointer) => ({ pointer })),
    );
    expectErrors(await request({ status: [], externalOrderIds: [], limit: 0 }), [
      ...["/status", "/externalOrderIds", "/limit"].map((pointer) => ({ pointer })),
    ]);
  });
});

describe("a search of many orders", () => {
  const STORED = 2 * ROWS_READ_MAX + 10;

  it("reads at most 5 000 for a page, also of other connections of its merchant, and continues after them", async () => {
    await place();
    await copyOrder(test, partner, STORED);
    const pages = await allPages({ status: ["CANCELED"] });
    expect(pages).toEqual([[], [], []]);
    const path = `/api/merchants/${partner.merchantId}/connections`;
    const sibling = (await test.backOffice.post(path, { name: "Sibling" })).body.id;
    await test.db.runScript("analyze orders");
    for (const of of [partner, { ...partner, connectionId: sibling }]) {
      const read = await countRowsRead(
        test.db,
        (db) =>
          searchOrders(
            { ...test.context, db: { ...test.context.db, query: db.query } },
            connectionKey(of),
            toOrderSearch({ status: ["CANCELED"] }, false),
            {},
          ),
        { returnRows: true },
      );
      expect(read("orders")).toBeLessThanOrEqual(of === partner ? ROWS_READ_MAX + LOOK_AHEAD : 1);
    }
  });
});
