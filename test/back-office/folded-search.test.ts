import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readListedOrders } from "../../src/orders/reading/list-orders.ts";
import { UUID_MAX } from "../../src/platform/wire/cursor.ts";
import { anAddress, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { ALL_ORDERS } from "../support/order-filters.ts";
import { connectionKey } from "../support/orders.ts";
import { orderUuid } from "../support/payments.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

// See docs/design/api-conventions.md, "Searching orders".

let test: TestService;
let one: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test);
});
afterAll(() => test.close());

const list = async (query: string, client = test.backOffice) => {
  const { status, body } = await client.get(`/api/orders?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { data: { id: string }[]; nextCursor: string | null };
};

it.each([
  ["grossmann", "Großmann"],
  ["gudmunds", "Guðmundsdóttir"],
  ["Nunez", "Núñez"],
  ["O'Connor", "O’Connor"],
  ["mueller", "Müller"],
  ["Mu\u0308ller", "Müller"],
  ["l'ecuyer", "L’Écuyer"],
])("finds by %s the buyer %s, and by city, postal code and phone", async (typed, lastName) => {
  const shippingAddress = anAddress({
    lastName,
    city: "Sankt Pölten",
    zip: "SW1A 1AA",
    phone: "+49 30 901820",
  });
  const { id } = await placeOrder(other, { externalOrderId: `folded ${typed}`, shippingAddress });
  const foundBy = async (text: string, client = test.backOffice) =>
    (await list(`q=${encodeURIComponent(text)}&limit=1`, client)).data.map((order) => order.id);
  for (const text of [typed, `${lastName} Polten`, "sw1a1aa", "SW1A 1AA", "030 901820", "0049 30/901820"])
    expect(await foundBy(text), text).toEqual([id]);
  const { merchantId } = connectionKey(one);
  const stranger = test.backOfficeFor({
    name: "Nora",
    grants: [{ role: "merchant", merchantIds: [merchantId] }],
  });
  expect(await foundBy(typed, stranger)).toEqual([]);
});

it("finds a corrected address, and not what it was before", async () => {
  const { id } = await placeOrder(one, { shippingAddress: anAddress({ lastName: "Wrongham" }) });
  expect((await list("q=wrongham")).data).toMatchObject([{ id }]);
  const body = { ...anAddress({ lastName: "Rightham" }) };
  const path = `/api/orders/${id}/shipping-address`;
  expect((await test.backOffice.request("PATCH", path, { body })).status).toBe(200);
  expect((await list("q=wrongham")).data).toEqual([]);
  expect((await list("q=rightham")).data).toMatchObject([{ id }]);
});

/** The ids of each page. */
async function follow(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof list>> = await list(
      `${query}&limit=1${cursor && `&cursor=${cursor}`}`,
    );
    pages.push(page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return pages;
}

describe("among very many orders", () => {
  const CROWD = 10_000;
  const found: string[] = [];
  let placedBefore: string;
  beforeAll(async () => {
    for (const [number, lastName] of ["Zyzzyva", "Qwixote"].entries()) {
      const shippingAddress = anAddress({ lastName, company: "Crowded" });
      found.unshift((await placeOrder(one, { externalOrderId: `Deep-y${number}`, shippingAddress })).id);
    }
    placedBefore = new Date(test.clock.now().getTime() + 1_000).toISOString();
    await test.db.runScript(`
      insert into order_requests
      select (jsonb_populate_record(r, jsonb_build_object(
               'order_id', 'fff00000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), 'words', 'word' || n || ' crowded',
               'idempotency_key', 'word' || n,
               'external_order_id', case when n <= 2000 then 'Deepest-' else 'Deep-' end || n))).*
      from order_requests r, generate_series(1, ${CROWD}) n
      where r.order_id = '${orderUuid(String(found[0]))}'`);
    return () =>
      test.db.runScript(
        "delete from order_requests where order_id >= 'fff00000-0000-7000-8000-000000000000'",
      );
  });

  it("finds those that have a rare word, at once", async () => {
    const [qwixote, zyzzyva] = found;
    expect(await list("q=zyzz")).toMatchObject({ data: [{ id: zyzzyva }], nextCursor: null });
    expect(await list("q=crowd%20qwi")).toMatchObject({ data: [{ id: qwixote }], nextCursor: null });
    expect((await list(`q=zyzz&merchantId=${one.merchantId}`)).data).toMatchObject([{ id: zyzzyva }]);
    expect((await list(`q=zyzz&merchantId=${other.merchantId}`)).data).toEqual([]);
    expect((await list("q=yzzyv")).data).toEqual([]); // A part within a word is found among the next ones only.
    expect((await list("q=crowd%20zyzz%20qwi")).data).toEqual([]);
  });

  it.each([
    ["words that many have", "q=crowd"],
    ["a beginning of many external ids", "q=Deep-"],
    ["words that many have, and a status", "q=crowd&status=NEW"],
    ["words that many of a merchant have", "q=crowd&merchantId="],
  ])("finds each once by following the cursor: %s", async (_title, query) => {
    const pages = await follow(query.replace(/Id=$/, `Id=${one.merchantId}`));
    expect(pages[0]).toEqual([]); // None of those that were compared for the first page has an order.
    expect(pages.flat()).toEqual(found);
    expect(pages.length).toBeLessThan(6);
  });

  it.each([
    ["one that few have, in its place among the words that many have", "word-1", "q=word"],
    ["one of many that begin so, none of them among the next orders", "Deepest-y", "q=Deepest-"],
  ])("finds an external id once: %s", async (_title, externalOrderId, query) => {
    const { id } = await placeOrder(one, { externalOrderId });
    expect((await follow(query)).flat()).toEqual([id]);
  });

  it("looks for them only in the time that is asked for", async () => {
    expect(await list(`q=crowd&createdUntil=${placedBefore}`)).toMatchObject({
      data: found.map((id) => ({ id })),
      nextCursor: null,
    });
    expect((await list(`q=crowd&createdSince=${placedBefore}`)).data).toEqual([]);
    expect((await list("q=crowd&sort=oldest")).data.map(({ id }) => id)).toEqual(found.toReversed());
  });

  itOnPlainPostgres("Citus reads each part whole.")("reads a bounded number of rows", async () => {
    const rows = await countRowsRead(
      test.db,
      (db) =>
        readListedOrders(
          db,
          { ...ALL_ORDERS, text: "crowd" },
          { list: "orders", afterId: UUID_MAX, limit: 20 },
          test.clock.now(),
        ),
      { returnRows: true },
    );
    expect(rows("order_requests")).toBeLessThanOrEqual(3 * (2_500 + LOOK_AHEAD));
  });
});

it("does not find an order by what was erased, but by its ids", async () => {
  const shippingAddress = anAddress({ lastName: "Forgetme" });
  const { id } = await placeOrder(one, { externalOrderId: "keep-1", shippingAddress });
  expect((await one.client.post(`/v1/orders/${id}/cancel`)).status).toBe(200);
  expect((await list("q=forgetme")).data).toMatchObject([{ id }]);
  expect((await test.backOffice.post(`/api/orders/${id}/erase-personal-data`)).status).toBe(200);
  expect((await list("q=forgetme")).data).toEqual([]);
  expect((await list("q=erased")).data).toEqual([]);
  expect((await list("q=keep-1")).data).toMatchObject([{ id }]);
  const [row] = await test.db.query<{ count: number }>({
    name: "test-count-words",
    text: "select count(*)::integer as count from order_requests where words like '%forgetme%'",
    values: [],
  });
  expect(row).toEqual({ count: 0 });
});

it("finds test orders among test orders, until they are erased", async () => {
  const { id } = await placeTestOrder(one, { shippingAddress: anAddress({ lastName: "Rehearsal" }) });
  expect((await list("q=rehears")).data).toEqual([]);
  expect((await list("q=rehears&testMode=true")).data).toMatchObject([{ id }]);
  test.clock.advance({ hours: 2, seconds: 1 });
  await runJob(test, "erase-test-orders");
  expect((await list("q=rehears&testMode=true")).data).toEqual([]);
  const [row] = await test.db.query<{ count: number }>({
    name: "test-count-words-of-test-orders",
    text: "select count(*)::integer as count from order_requests where words like '%rehearsal%'",
    values: [],
  });
  expect(row).toEqual({ count: 0 });
});

it("finds new orders before and after their words are sorted into the index", async () => {
  const { id } = await placeOrder(one, { shippingAddress: anAddress({ lastName: "Freshly" }) });
  expect((await list("q=freshly")).data).toMatchObject([{ id }]);
  await runJob(test, "sort-in-new-words");
  expect((await list("q=freshly")).data).toMatchObject([{ id }]);
});
