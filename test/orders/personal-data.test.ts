import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import {
  anAddress,
  anOrder,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { sendFor } from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { copyScript } from "../support/many-orders.ts";
import { expectProblem } from "../support/orders.ts";
import { processDuePayments } from "../support/payments.ts";
import { expectRejected, operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { countRowsNaming } from "../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

const BUYER = anAddress({
  firstName: "Zebulon",
  lastName: "Quaxbury",
  name: "Zeb Quaxbury",
  company: "Quaxbury Quills",
  address1: "9 Hidden Mews",
  address2: "Attic Qx",
  city: "Quaxville",
  zip: "QX9 9QX",
  stateCode: "QQ",
  phone: "+44 9999 0000",
});
const { countryCode: _, ...PERSONAL } = BUYER as Record<string, string>;
/** What the partner says about the buyer. A key of metadata can have the name of another field. */
const SAID = { note: "Ring at Quaxnote", metadata: { giftFor: "Quaxmeta", shippingAddress: "Quaxplace" } };
/** All texts by which the buyer, or the buyer's parcel, can be found. */
const TEXTS = [
  ...Object.values(PERSONAL),
  SAID.note,
  ...Object.keys(SAID.metadata).slice(0, 1),
  ...Object.values(SAID.metadata),
  "TRACK-QX",
  "track.example",
];

const erase = (test: TestService, id: string) =>
  test.backOffice.post(`/api/orders/${id}/erase-personal-data`);

/** A completed order whose buyer is named wherever an order can name its buyer. */
async function completedOrder(test: TestService, partner: Partner) {
  const request = anOrder(partner, { shippingAddress: BUYER, ...SAID });
  const { status, body } = await partner.client.post("/v1/orders", request);
  expect(status, JSON.stringify(body)).toBe(201);
  await sendFor(test, partner);
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  await runJob(test, "route-orders");
  const { id } = body;
  await operationApplied(test, id, "ship", {
    carrier: "DHL",
    trackingNumber: "TRACK-QX",
    trackingUrl: "https://track.example/TRACK-QX",
  });
  await operationApplied(test, id, "complete");
  await sendFor(test, partner);
  return { id, request };
}

describe("POST /api/orders/{id}/erase-personal-data", () => {
  let test: TestService;
  let partner: Partner;
  beforeAll(async () => {
    test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
    partner = await createPartner(test);
  });
  afterAll(() => test.close());

  it("erases the buyer from every table: order, events, attempts, mails, timeline, returns, refunds", async () => {
    const service = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const shop = await createPartner(service);
    const statuses = [500]; // One attempt that fails, and successes.
    const { url } = await startReceiverForTest((request, response) => {
      response
        .writeHead(statuses.shift() ?? 200)
        .end(`got ${request.body.slice(request.body.indexOf("shippingAddress"))}`);
    });
    await createEndpoint(shop, { url });
    const { id } = await completedOrder(service, shop);
    const canceled = (await placeOrder(shop, { shippingAddress: BUYER, ...SAID })).id;
    await sendFor(service, shop);
    await operationApplied(service, canceled, "cancel", { reason: "Zebulon called" });
    await processDuePayments(service);
    const note = "Zebulon sent it back";
    await operationApplied(service, id, "return", { note, refund: { reference: "r" } });

    expect(Object.keys(await countRowsNaming(service, ...TEXTS))).toEqual(
      expect.arrayContaining([
        ...["order_requests", "shipments", "timeline_entries", "outgoing_mails", "refunds", "order_returns"],
      ]),
    );
    const before = await countRowsNaming(service, ...TEXTS);
    expect(Object.keys(before).some((table) => table.startsWith("events"))).toBe(true);
    expect(Object.keys(before).some((table) => table.startsWith("attempts"))).toBe(true);
    expect(Object.keys(before)).toContain("deliveries");

    for (const each of [id, canceled]) expect((await erase(service, each)).status).toBe(200);
    expect(await countRowsNaming(service, ...TEXTS)).toEqual({});
  });

  it("keeps the form of the order, its country, its money and its counts", async () => {
    const { id } = await completedOrder(test, partner);
    const before = await readDetail(test, id);
    const erased = (await erase(test, id)).body;
    const now = test.clock.now().toISOString();
    expect(erased.shippingAddress).toEqual({
      firstName: "erased",
      lastName: "erased",
      name: "erased",
      company: null,
      address1: "erased",
      address2: null,
      city: "erased",
      zip: "erased",
      stateCode: null,
      countryCode: "GB",
      phone: null,
    });
    expect(before.personalDataErasedAt).toBeNull();
    expect(erased.personalDataErasedAt).toBe(now);
    const { shippingAddress, shippingAddressVersion, note, metadata, ...others } = before;
    const { shipments, timeline, personalDataErasedAt, actions, sequence, updatedAt, ...rest } = others;
    expect({ note, metadata }).toEqual(SAID);
    expect([erased.note, erased.metadata]).toEqual([null, {}]);
    expect(erased).toMatchObject({ ...rest, sequence });
    expect(erased.updatedAt > updatedAt).toBe(true);
    expect(erased.shippingAddressVersion).not.toBe(shippingAddressVersion);
    expect(erased.shipments).toEqual([{ ...shipments[0], trackingNumber: null, trackingUrl: null }]);
    expect(erased.timeline.at(-1)).toMatchObject({
      operation: "erasePersonalData",
      actor: { kind: "operator" },
      status: "COMPLETED",
    });
    const read = await partner.client.get(`/v1/orders/${id}`);
    expect([read.status, read.body.shippingAddress]).toEqual([200, erased.shippingAddress]);
  });

  it("leaves all else of the events as it was", async () => {
    const shop = await createPartner(test);
    const { id } = await completedOrder(test, shop);
    const before = await readEvents(test, shop.connectionId);
    await erase(test, id);
    const after = await readEvents(test, shop.connectionId);
    const { shippingAddress } = (await readDetail(test, id)) as { shippingAddress: object };
    const ofOrder = before.filter(({ data }) => data.order !== undefined);
    expect(ofOrder.length).toBeGreaterThanOrEqual(3);
    const expected = before.map((event) =>
      JSON.parse(JSON.stringify(event), (key, value) => {
        if (key === "shippingAddress") return shippingAddress;
        if (key === "metadata") return {};
        return ["note", "trackingNumber", "trackingUrl"].includes(key) ? null : value;
      }),
    );
    expect(JSON.stringify(after)).toBe(JSON.stringify(expected));
  });

  it("keeps the request's hash: a retry is replayed, and another request is a reuse of the key", async () => {
    const { id, request } = await completedOrder(test, partner);
    await erase(test, id);
    const headers = { "idempotency-key": request.externalOrderId };
    const retry = await partner.client.post("/v1/orders", request, { headers });
    expect([retry.status, retry.body.id]).toEqual([200, id]);
    const other = { ...request, shippingAddress: { ...BUYER, city: "Elsewhere" } };
    const reused = await partner.client.post("/v1/orders", other, { headers });
    expectProblem(reused, 422, "idempotency-key-reused", { orderId: id, differences: [] });
  });

  it("changes nothing when it is repeated", async () => {
    const { id } = await completedOrder(test, partner);
    const first = (await erase(test, id)).body;
    test.clock.advance({ seconds: 1 });
    const second = await erase(test, id);
    expect([second.status, second.body]).toEqual([200, first]);
    const entries = await test.backOffice.get(`/api/audit-entries?subjectId=${id}&action=erasePersonalData`);
    expect(entries.body.data).toHaveLength(1);
  });

  it("rejects an order that is not settled", async () => {
    const { id } = await placeAcceptedOrder(test, partner, { shippingAddress: BUYER });
    const answer = await erase(test, id);
    expectRejected(answer, "order_not_settled", "erasePersonalData", "ACCEPTED");
    expect((await readDetail(test, id)).shippingAddress.firstName).toBe("Zebulon");
  });

  it("returns 404 for a test order, which is erased as a whole, and for a missing one", async () => {
    const { id } = await placeTestOrder(partner);
    for (const each of [id, "ord_01m7y7np16fe68bxp4h91tdmdn"])
      expectProblem(await erase(test, each), 404, "not-found");
  });

  it("is the operator's", async () => {
    const { id } = await completedOrder(test, partner);
    for (const client of [warehouseOf(test), personOf(test, partner.merchantId)])
      expect((await client.post(`/api/orders/${id}/erase-personal-data`)).status).toBe(403);
  });
});

describe("the job erase-personal-data", () => {
  const DAYS_MS = 10 * 86_400_000;
  const start = () => startServiceForTest({ config: { personalDataMs: DAYS_MS } });
  const canceledOrder = async (test: TestService, partner: Partner): Promise<string> => {
    const { id } = await placeOrder(partner, { shippingAddress: BUYER });
    await operationApplied(test, id, "cancel");
    return id;
  };

  it("erases orders of all connections that have been settled for PERSONAL_DATA_DAYS, and no others", async () => {
    const test = await start();
    const partners = [await createPartner(test), await createPartner(test), await createPartner(test)];
    const settled: string[] = [];
    for (const partner of partners) settled.push(await canceledOrder(test, partner));
    const [partner] = partners as [Partner];
    const { id: open } = await placeOrder(partner, { shippingAddress: BUYER });
    test.clock.advance({ ms: DAYS_MS - 1 });
    expect(await runJob(test, "erase-personal-data")).toBe(0);
    const { id: young } = await placeOrder(partner, { shippingAddress: BUYER });
    await operationApplied(test, young, "cancel");
    test.clock.advance({ ms: 1 });
    expect(await runJob(test, "erase-personal-data")).toBe(3);
    expect(await runJob(test, "erase-personal-data")).toBe(0);
    const nameOf = async (id: string) => (await readDetail(test, id)).shippingAddress.firstName;
    expect(await Promise.all(settled.map(nameOf))).toEqual(["erased", "erased", "erased"]);
    expect(await Promise.all([open, young].map(nameOf))).toEqual(["Zebulon", "Zebulon"]);
    expect((await readDetail(test, settled[0] ?? "")).timeline.at(-1)).toMatchObject({
      operation: "erasePersonalData",
      actor: { kind: "service", name: null },
    });
  });

  it("does nothing without PERSONAL_DATA_DAYS", async () => {
    const test = await startServiceForTest();
    const id = await canceledOrder(test, await createPartner(test));
    test.clock.advance({ hours: 24 * 5_000 });
    expect(await runJob(test, "erase-personal-data")).toBe(0);
    expect((await readDetail(test, id)).personalDataErasedAt).toBeNull();
  });

  it("begins again when a parcel of the order comes back", async () => {
    const test = await start();
    const partner = await createPartner(test);
    const { id } = await completedOrder(test, partner);
    test.clock.advance({ ms: DAYS_MS - 1 });
    await operationApplied(test, id, "return");
    test.clock.advance({ ms: DAYS_MS - 1 });
    expect(await runJob(test, "erase-personal-data")).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await runJob(test, "erase-personal-data")).toBe(1);
  });

  it("skips an order that cannot be erased, erases the others, and reports it", async () => {
    const test = await start();
    const partner = await createPartner(test);
    const ids = [await canceledOrder(test, partner), await canceledOrder(test, partner)];
    const poison = fromTypeId("ord", ids[0] ?? "");
    await test.db.runScript(
      `alter table order_requests add constraint refuse check (order_id <> '${poison}' or first_name <> 'erased')`,
    );
    test.clock.advance({ ms: DAYS_MS });
    await expect(runJob(test, "erase-personal-data")).rejects.toThrow("1 orders could not be erased");
    expect((await readDetail(test, ids[1] ?? "")).personalDataErasedAt).not.toBeNull();
    await test.db.runScript("alter table order_requests drop constraint refuse");
    expect(await runJob(test, "erase-personal-data")).toBe(1);
  });

  it("ends after a batch when the worker stops, and the next run continues", async () => {
    const test = await start();
    const partner = await createPartner(test);
    const id = fromTypeId("ord", await canceledOrder(test, partner));
    // Copies of one settled order: more than a batch.
    await test.db.runScript(copyScript({ of: `o.id = '${id}'`, to: 450 }));
    test.clock.advance({ ms: DAYS_MS });
    const stopping = new AbortController();
    const running = runJob(test, "erase-personal-data", stopping.signal);
    stopping.abort();
    const first = await running;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(451);
    expect(first + (await runJob(test, "erase-personal-data"))).toBe(451);
    expect((await countRowsNaming(test, "Zebulon"))["order_requests"]).toBeUndefined();
  });
});
