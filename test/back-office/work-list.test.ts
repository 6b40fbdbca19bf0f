import { beforeEach, describe, expect, it } from "vitest";
import { warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, ship } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { operationApplied } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startWarehouse, type Warehouse } from "../support/work-list.ts";

let test: Warehouse["test"];
let partner: Warehouse["partner"];
let facility: Warehouse["facility"];
let placeReady: Warehouse["placeReady"];
beforeEach(async () => {
  ({ test, partner, facility, placeReady } = await startWarehouse());
});

const listed = async (query = "") => (await test.backOffice.get(`/api/work-list${query}`)).body;
const idsOf = (orders: { orderId: string }[]): string[] => orders.map(({ orderId }) => orderId);
const take = (takenBy: string, fields: object = {}) =>
  warehouseOf(test).post("/api/pick-lists", { facilityId: facility, takenBy, ...fields });
const taken = async (takenBy: string, fields: object = {}) => {
  const { status, body } = await take(takenBy, fields);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

describe("GET /api/work-list", () => {
  it("shows SKU, name, quantity and destination of what can be shipped, oldest first", async () => {
    const ids = await placeReady(3);
    const { data, nextCursor } = await listed();
    expect(idsOf(data)).toEqual(ids);
    expect(nextCursor).toBeNull();
    expect(data[0]).toMatchObject({
      merchantId: partner.merchantId,
      merchantName: "Merchant",
      facilityId: facility,
      pickList: null,
      shippingAddress: { firstName: expect.any(String), city: expect.any(String), countryCode: "GB" },
      lines: [
        { sku: expect.any(String), name: expect.any(String), quantity: 1, productId: partner.productIds[0] },
      ],
    });
  });

  it("shows the note of the partner, also on a pick list", async () => {
    const { id } = await placeOrder(partner, { note: "Ring twice." });
    await acceptAll(test);
    await routeAll(test);
    await placeReady(1);
    const notesOf = (orders: { note: string | null }[]) => orders.map(({ note }) => note);
    expect(notesOf((await listed()).data)).toEqual(["Ring twice.", null]);
    const { orders } = await taken("Wilma");
    expect([orders[0].orderId, ...notesOf(orders)]).toEqual([id, "Ring twice.", null]);
  });

  it("leaves out what cannot be shipped, and lines that have shipped", async () => {
    const [held = "", shipped = "", canceled = "", half = ""] = await placeReady(4);
    const [first = "", second = ""] = partner.productIds;
    const lines = [first, second].map((productId) => ({ productId, quantity: 2 }));
    const { id: two } = await placeOrder(partner, { lines });
    await acceptAll(test);
    await routeAll(test);
    await placeOrder(partner);
    await operationApplied(test, held, "hold");
    await ship(test, partner, shipped);
    await operationApplied(test, canceled, "cancel");
    await ship(test, partner, two, [0]);
    const { data } = await listed();
    expect(idsOf(data)).toEqual([half, two]);
    expect(data[1].lines).toMatchObject([{ productId: second, quantity: 2 }]);
    await operationApplied(test, held, "release-hold");
    expect(idsOf((await listed()).data)).toEqual([held, half, two]);
  });

  it("is of one facility, or of all, and is paged", async () => {
    const near = await placeReady(3);
    await test.backOffice.post(`/api/facilities/${facility}/close`);
    const other = await createFacility(test);
    const far = await placeReady(2);
    expect(idsOf((await listed(`?facilityId=${facility}`)).data)).toEqual(near);
    expect(idsOf((await listed(`?facilityId=${other}`)).data)).toEqual(far);
    const first = await listed("?limit=4");
    expect(idsOf(first.data)).toEqual([...near, ...far].slice(0, 4));
    const next = await listed(`?limit=4&cursor=${first.nextCursor}`);
    expect(idsOf(next.data)).toEqual(far.slice(1));
    expect((await test.backOffice.get("/api/work-list?facilityId=x")).status).toBe(422);
  });

  it("shows who has taken an order, and can be narrowed by that", async () => {
    const ids = await placeReady(3);
    const { pickList } = await taken("Wilma", { orderLimit: 2 });
    const { data } = await listed("?taken=true");
    expect(idsOf(data)).toEqual(ids.slice(0, 2));
    const { id, expiresAt } = pickList;
    expect(data[0].pickList).toEqual({ id, takenBy: "Wilma", expiresAt, box: 1 });
    expect(idsOf((await listed("?taken=false")).data)).toEqual(ids.slice(2));
  });

  it("is CSV as well, safe for spreadsheets, a row for each line", async () => {
    const lines = partner.productIds.slice(0, 2).map((productId) => ({ productId, quantity: 3 }));
    const { id } = await placeOrder(partner, {
      lines,
      shippingAddress: { ...ADDRESS, company: "=1+1" },
      note: "=2+2",
    });
    await acceptAll(test);
    await routeAll(test);
    const { status, headers, text } = await readCsv("/api/work-list/export?format=spreadsheet");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
    const [head, ...rows] = text.trimEnd().split("\r\n");
    expect(head).toMatch(
      /^\uFEFForderId,externalOrderId,.*,sku,productName,quantity,name,company,.*,pickListId,takenBy,note$/,
    );
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain(id);
    expect(rows[0]).toContain(",'=1+1,");
    expect(rows.map((row) => row.endsWith(",'=2+2"))).toEqual([true, true]);
  });

  it("records who has read the addresses", async () => {
    const ids = await placeReady(1);
    await listed();
    await taken("Wilma");
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${ids[0]}`)).body;
    expect(data.map(({ action }: { action: string }) => action)).toEqual(["takePickList", "listWork"]);
  });
});

const ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
};
const readCsv = async (path: string) => {
  const { status, headers, body } = await test.backOffice.get(path);
  return { status, headers, text: String(body) };
};

describe("POST /api/pick-lists", () => {
  it("takes the oldest orders that are free, for an hour", async () => {
    const ids = await placeReady(12);
    const first = await taken("Wilma");
    expect(idsOf(first.orders)).toEqual(ids.slice(0, 10));
    const expiresAt = new Date(test.clock.now().getTime() + 3_600_000).toISOString();
    expect(first.pickList).toMatchObject({
      takenBy: "Wilma",
      facilityId: facility,
      expiresAt,
      releasedAt: null,
    });
    expect(idsOf((await taken("Otto")).orders)).toEqual(ids.slice(10));
    expect((await take("Ute")).body).toEqual({ pickList: null, orders: [] });
  });

  it("never gives an order to two of twelve people at once, and gives every order", async () => {
    const ids = await placeReady(20);
    const people = Array.from({ length: 12 }, (_, at) => `person ${at}`);
    const answers = await Promise.all(people.map((person) => take(person, { orderLimit: 2 })));
    const got = answers.flatMap(({ body }) => idsOf(body.orders));
    expect(got).toHaveLength(20);
    expect(new Set(got)).toEqual(new Set(ids));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  });

  it("takes once for each reference of a person, also when requests are concurrent", async () => {
    const ids = await placeReady(6);
    const fields = { orderLimit: 2, reference: "morning" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => take("Wilma", fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    for (const { body } of answers) expect(idsOf(body.orders)).toEqual(ids.slice(0, 2));
    const other = await take("Wilma", { ...fields, orderLimit: 3 });
    expect(other.body.errors).toMatchObject([{ pointer: "/reference" }]);
    expect(idsOf((await taken("Otto", fields)).orders)).toEqual(ids.slice(2, 4));
  });

  it("gives orders to others after the lease, and only then", async () => {
    const ids = await placeReady(2);
    const first = await taken("Wilma", { leaseMinutes: 30 });
    test.clock.advance({ minutes: 29 });
    expect((await take("Otto")).body.pickList).toBeNull();
    test.clock.advance({ minutes: 1 });
    expect(idsOf((await taken("Otto")).orders)).toEqual(ids);
    const { body } = await test.backOffice.get(`/api/pick-lists/${first.pickList.id}`);
    expect(body.orders).toEqual([]);
    await test.backOffice.post(`/api/pick-lists/${first.pickList.id}/release`);
    expect((await take("Ute")).body.pickList).toBeNull(); // The release of an expired list frees nothing of others.
  });

  it("stores nothing if no order is free", async () => {
    const before = await dumpTables(test);
    expect((await take("Wilma")).status).toBe(200);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("takes orders of several merchants, and of no other facility", async () => {
    const ids = [...(await placeReady(1)), ...(await placeReady(1, await createPartner(test)))];
    const other = await createFacility(test, { countryCode: "DE" });
    expect((await take("Otto", { facilityId: other })).body.pickList).toBeNull();
    expect(idsOf((await taken("Wilma")).orders)).toEqual(ids);
  });

  it("rejects an empty name, too many orders, a long time, and an unknown facility", async () => {
    const wrong = { takenBy: "", orderLimit: 101, leaseMinutes: 721, facilityId: "fac_x" };
    for (const [field, value] of Object.entries(wrong)) {
      const { status, body } = await take("Wilma", { [field]: value });
      expect(status).toBe(422);
      expect(body.errors).toMatchObject([{ pointer: `/${field}` }]);
    }
  });
});

describe("a pick list", () => {
  it("shows what is left to ship, and is released for others", async () => {
    const [first = "", second = ""] = await placeReady(2);
    const { pickList } = await taken("Wilma");
    await ship(test, partner, first);
    const path = `/api/pick-lists/${pickList.id}`;
    expect(idsOf((await test.backOffice.get(path)).body.orders)).toEqual([second]);
    expect((await readCsv(`${path}?format=csv`)).text).toContain(second);
    const { body } = await test.backOffice.post(`${path}/release`);
    expect(body.releasedAt).toBe(test.clock.now().toISOString());
    const before = await dumpTables(test);
    expect((await test.backOffice.post(`${path}/release`)).body.id).toBe(pickList.id);
    expect(await dumpTables(test)).toEqual(before);
    expect(idsOf((await taken("Otto")).orders)).toEqual([second]);
    expect((await test.backOffice.get("/api/pick-lists/pick_x")).status).toBe(404);
  });

  it("keeps the box of each order when others have shipped, also on slips and scans, and gives none twice", async () => {
    const [first = "", second = "", third = ""] = await placeReady(3);
    const { pickList, orders } = await taken("Wilma");
    const boxesOf = (work: { orderId: string; pickList: { box: number } }[]) =>
      work.map(({ orderId, pickList: { box } }) => [orderId, box]);
    expect(boxesOf(orders)).toEqual([
      [first, 1],
      [second, 2],
      [third, 3],
    ]);
    await ship(test, partner, first);
    const path = `/api/pick-lists/${pickList.id}`;
    expect(boxesOf((await test.backOffice.get(path)).body.orders)).toEqual([
      [second, 2],
      [third, 3],
    ]);
    expect(boxesOf((await test.backOffice.get(`/api/work-list/scan?code=${third}`)).body.orders)).toEqual([
      [third, 3],
    ]);
    const { slips } = (await test.backOffice.get(`${path}/packing-slips`)).body;
    expect(slips.map(({ box }: { box: number }) => box)).toEqual([2, 3]);
    await test.backOffice.post(`${path}/release`);
    expect(boxesOf((await taken("Otto")).orders)).toEqual([
      [second, 1],
      [third, 2],
    ]);
  });

  it("has the slips of all its orders that can still be shipped, for staff of its facility", async () => {
    const other = await createPartner(test, { name: "Other shop" });
    const [first = "", second = ""] = [...(await placeReady(1)), ...(await placeReady(1, other))];
    const [third = ""] = await placeReady(1);
    const { pickList } = await taken("Wilma");
    await ship(test, partner, third);
    const path = `/api/pick-lists/${pickList.id}/packing-slips`;
    const { slips } = (await warehouseOf(test).get(path)).body;
    expect(slips).toMatchObject([
      { orderId: first, connectionName: "Partner", shipmentId: null, facility: { id: facility } },
      { orderId: second, merchantName: "Merchant", connectionName: "Other shop", lines: [{ quantity: 1 }] },
    ]);
    const single = (await test.backOffice.get(`/api/orders/${second}/packing-slip`)).body;
    expect(slips[1]).toEqual(single);
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${first}&limit=1`)).body;
    expect(data).toMatchObject([{ action: "listPackingSlips" }]);
    await test.backOffice.post(`/api/pick-lists/${pickList.id}/release`);
    expect((await test.backOffice.get(path)).body).toEqual({ slips: [] });
    expect((await test.backOffice.get("/api/pick-lists/pick_x/packing-slips")).status).toBe(404);
  });

  it("is listed, newest first, and deleted in the end", async () => {
    await placeReady(2);
    const lists = [await taken("Wilma", { orderLimit: 1 }), await taken("Otto", { orderLimit: 1 })];
    const ids = lists.map(({ pickList }) => pickList.id);
    const read = async (query: string) =>
      (await test.backOffice.get(`/api/pick-lists${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await read("")).toEqual(ids.toReversed());
    expect(await read(`?open=true&facilityId=${facility}`)).toEqual(ids.toReversed());
    test.clock.advance({ hours: 1 });
    expect(await read("?open=true")).toEqual([]);
    expect(await runJob(test, "purge-pick-lists")).toBe(2);
    expect(await read("?open=false")).toEqual(ids.toReversed());
    test.clock.advance({ hours: 24 * 30 });
    expect(await runJob(test, "purge-pick-lists")).toBe(2);
    expect(await read("")).toEqual([]);
  });
});

describe("POST /api/orders/{orderId}/put-aside", () => {
  const putAside = (id: string, reason = "missing") =>
    warehouseOf(test).post(`/api/orders/${id}/put-aside`, { reason });

  it("marks the order on the work list, and leaves it out of new pick lists until it is taken up", async () => {
    const [first = "", second = ""] = await placeReady(2);
    const { status, body } = await putAside(first);
    expect([status, body]).toEqual([
      200,
      { reason: "missing", by: expect.any(String), at: test.clock.now().toISOString() },
    ]);
    const { data } = await listed();
    expect(data.map(({ putAside: mark }: { putAside: object | null }) => mark)).toEqual([body, null]);
    expect((await test.backOffice.get(`/api/work-list/scan?code=${first}`)).body.orders).toMatchObject([
      { putAside: body, canShip: true },
    ]);
    const { orders, pickList } = await taken("Wilma");
    expect(idsOf(orders)).toEqual([second]);
    await test.backOffice.post(`/api/pick-lists/${pickList.id}/release`);
    expect((await warehouseOf(test).post(`/api/orders/${first}/take-up`)).status).toBe(204);
    expect((await listed()).data[0].putAside).toBeNull();
    expect(idsOf((await taken("Otto")).orders)).toEqual([first, second]);
  });

  it("takes another reason, and changes nothing for the same one", async () => {
    const [id = ""] = await placeReady(1);
    const { body } = await putAside(id);
    test.clock.advance({ minutes: 5 });
    const before = await dumpTables(test);
    expect((await putAside(id)).body).toEqual(body);
    expect(await dumpTables(test)).toEqual(before);
    expect((await putAside(id, "question")).body).toMatchObject({ reason: "question" });
    expect((await putAside(id, "tired")).body.errors).toMatchObject([{ pointer: "/reason" }]);
    expect((await putAside("ord_00000000000000000000000000")).status).toBe(404);
  });

  it("is recorded, and forgotten after 30 days", async () => {
    const [id = ""] = await placeReady(1);
    await putAside(id);
    await warehouseOf(test).post(`/api/orders/${id}/take-up`);
    await warehouseOf(test).post(`/api/orders/${id}/take-up`);
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${id}`)).body;
    expect(data.map(({ action }: { action: string }) => action)).toEqual(["takeOrderUp", "putOrderAside"]);
    await putAside(id);
    test.clock.advance({ hours: 31 * 24 });
    await runJob(test, "purge-pick-lists");
    const { orders } = (await test.backOffice.get(`/api/work-list/scan?code=${id}`)).body;
    expect(orders[0].putAside).toBeNull();
  });
});
