import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developerOf, personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { createSibling } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let one: Partner;
let other: Partner;
let firstDay: string;
let firstTime: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  one = await createPartner(test);
  other = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
  [firstDay = "", firstTime = ""] = test.clock.now().toISOString().split("T");
  const shipped = await placeOrder(one);
  const held = await placeOrder(one);
  await placeTestOrder(one);
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  await operationApplied(test, held.id, "hold", { reasons: ["out_of_stock", "fraud"] });
  await runJob(test, "route-orders");
  test.clock.advance({ hours: 1 });
  await operationApplied(test, shipped.id, "ship");
  test.clock.advance({ hours: 24 });
  await placeOrder(other, { lines: [{ productId: other.productIds[0], quantity: 2 }] });
});
afterAll(() => test.close());

const read = async (query = "", client: Client = test.backOffice) => {
  const { status, body } = await client.get(`/api/overview?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

describe("GET /api/overview", () => {
  it("counts real orders by day and present status", async () => {
    const { ordersByDay, completeSince, readAt } = await read("days=7");
    expect(readAt).toBe(test.clock.now().toISOString());
    expect(ordersByDay).toEqual([
      {
        day: firstDay,
        counts: [
          { status: "ACCEPTED", count: 1 },
          { status: "IN_PROGRESS", count: 1 },
        ],
        countedAt: null,
      },
      {
        day: test.clock.now().toISOString().slice(0, 10),
        counts: [{ status: "PROCESSING", count: 1 }],
        countedAt: null,
      },
    ]);
    const week = 6 * 86_400_000;
    expect(completeSince).toBe(
      `${new Date(test.clock.now().getTime() - week).toISOString().slice(0, 10)}T00:00:00.000Z`,
    );
    expect((await read("days=1")).ordersByDay).toHaveLength(1);
  });

  it("shows how long orders took, from their timelines", async () => {
    const { acceptance, shipping } = await read();
    expect(acceptance).toEqual({ count: 1, medianSeconds: 7_200, p90Seconds: 7_200 });
    expect(shipping).toEqual({ count: 1, medianSeconds: 10_800, p90Seconds: 10_800 });
  });

  it("names what needs attention, each with the list that shows exactly these", async () => {
    const { attention, holds } = await read();
    expect(holds.map(({ reason, count }: { reason: string; count: number }) => [reason, count])).toEqual([
      ["fraud", 1],
      ["out_of_stock", 1],
    ]);
    expect(attention.map(({ kind, reason }: { kind: string; reason: string }) => [kind, reason])).toEqual([
      ["hold", "out_of_stock"],
      ["review", null],
    ]);
    expect(attention[0].oldestAt).toBe(`${firstDay}T${firstTime}`);
    for (const { list, query, count } of [
      ...attention,
      ...holds.map((hold: object) => ({ ...hold, list: "orders" })),
    ])
      expect((await test.backOffice.get(`/api/${list}?${query}`)).body.data, query).toHaveLength(count);
  });

  it("counts deliveries of the last day, and endpoints that get no events", async () => {
    const endpoint = await createEndpoint(other);
    await placeOrder(other);
    expect((await read()).deliveries).toEqual({
      succeeded: 0,
      succeededAtOnce: 0,
      failed: 0,
      pending: 1,
      medianDelayMs: null,
      p90DelayMs: null,
    });
    await test.backOffice.post(
      `/api/connections/${other.connectionId}/webhook-endpoints/${endpoint.id}/pause`,
    );
    const { attention } = await read(`merchantId=${other.merchantId}`);
    const paused = attention.find(({ kind }: { kind: string }) => kind === "endpoint_paused");
    expect(paused).toMatchObject({ count: 1, list: "webhook-endpoints" });
    expect((await test.backOffice.get(`/api/webhook-endpoints?${paused.query}`)).status).toBe(200);
  });

  it("shows a merchant its own figures only", async () => {
    const own = await read("", personOf(test, other.merchantId));
    expect(own.holds).toEqual([]);
    expect(own.ordersByDay).toHaveLength(1);
    expect(own.shipping).toEqual({ count: 0, medianSeconds: null, p90Seconds: null });
    const foreign = await read(`merchantId=${one.merchantId}`, personOf(test, other.merchantId));
    expect([foreign.ordersByDay, foreign.holds, foreign.attention]).toEqual([[], [], []]);
    expect((await warehouseOf(test).get("/api/overview")).status).toBe(403);
  });

  it("shows a partner's developer the figures of its connection only, and nothing of routing", async () => {
    const sibling = await createSibling(test, one);
    await placeOrder(sibling);
    const developer = developerOf(test, one);
    const own = await read("", developer);
    const all = await read(`merchantId=${one.merchantId}`);
    expect(own.ordersByDay).toEqual(all.ordersByDay.slice(0, 1));
    expect(all.ordersByDay).toHaveLength(2);
    expect([own.holds, own.acceptance, own.shipping]).toEqual([
      all.holds.map((hold: { query: string }) => ({
        ...hold,
        query: expect.not.stringContaining("merchantId"),
      })),
      all.acceptance,
      all.shipping,
    ]);
    for (const { list, query, count } of own.attention)
      expect((await developer.get(`/api/${list}?${query}`)).body.data, query).toHaveLength(count);
    expect((await read(`merchantId=${other.merchantId}`, developer)).ordersByDay).toEqual([]);
  });

  it("shows one person the figures of its merchant and of its connection together", async () => {
    const grants = [
      { role: "partner", connections: [connectionKey(one)] } as const,
      { role: "merchant", merchantIds: [connectionKey(other).merchantId] } as const,
    ];
    const both = await read("", test.backOfficeFor({ name: "Both", grants }));
    const [partners, merchants] = [
      await read("", developerOf(test, one)),
      await read(`merchantId=${other.merchantId}`),
    ];
    expect(both.ordersByDay).toEqual([...partners.ordersByDay, ...merchants.ordersByDay]);
    expect(both.deliveries).toEqual(merchants.deliveries);
  });

  it("counts endpoints that get no events for a partner's developer, with the list of these", async () => {
    const endpoint = await createEndpoint(one);
    const path = `/api/connections/${one.connectionId}/webhook-endpoints`;
    await test.backOffice.post(`${path}/${endpoint.id}/pause`);
    const developer = developerOf(test, one);
    const { attention } = await read("", developer);
    const paused = attention.find(({ kind }: { kind: string }) => kind === "endpoint_paused");
    expect(paused).toMatchObject({ count: 1, list: "webhook-endpoints", query: "health=paused" });
    const listed = await developer.get(`/api/webhook-endpoints?${paused.query}`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([endpoint.id]);
    expect((await developerOf(test, other).get("/api/webhook-endpoints")).body.data).toHaveLength(1);
    const ofMerchant = `/api/webhook-endpoints?merchantId=${other.merchantId}`;
    expect((await developer.get(ofMerchant)).body.data).toEqual([]);
  });

  it("shows the warehouse all orders together while there are no facilities", async () => {
    const { facilities } = (await warehouseOf(test).get("/api/work-list/overview")).body;
    expect(facilities).toMatchObject([{ facilityId: null, name: null, toPack: 0, oldest: null }]);
  });

  it("rejects what is no number of days, no merchant and no time zone", async () => {
    for (const query of ["days=0", "days=91", "days=x", "merchantId=1", "timeZone=Mars/Base"])
      expect((await test.backOffice.get(`/api/overview?${query}`)).status, query).toBe(422);
  });

  it("names orders that were not routed within an hour, but not to a partner's developer", async () => {
    const unrouted = await createPartner(test);
    await placeOrder(unrouted);
    test.clock.advance({ hours: 2 });
    await runJob(test, "accept-orders");
    test.clock.advance({ minutes: 61 });
    const kindsFor = async (client: Client) =>
      (await read("", client)).attention.map(({ kind }: { kind: string }) => kind);
    expect(await kindsFor(personOf(test, unrouted.merchantId))).toEqual(["not_routed"]);
    expect(await kindsFor(developerOf(test, unrouted))).toEqual([]);
  });
});

describe("GET /api/overview/counts", () => {
  it("counts what waits, for each caller of what it sees", async () => {
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    await setCreditLimit(test, partner, 1_500n);
    for (const quantity of [1, 1, 2])
      await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity }] });
    await processDuePayments(test);
    const countsFor = async (client: Client) => (await client.get("/api/overview/counts")).body;
    const ofMerchant = { inReview: 1, onHold: 1, toShip: null, declinedPayments: 1, failingEndpoints: 0 };
    expect(await countsFor(personOf(test, partner.merchantId))).toEqual(ofMerchant);
    expect(await countsFor(developerOf(test, partner))).toEqual({ ...ofMerchant, declinedPayments: null });
    const all = await countsFor(test.backOffice);
    expect(all.declinedPayments).toBe(1);
    expect(all.onHold).toBeGreaterThan(1);
    const warehouse = { inReview: all.inReview, onHold: all.onHold, toShip: all.toShip };
    expect(await countsFor(warehouseOf(test))).toEqual({
      ...warehouse,
      ...{ declinedPayments: null, failingEndpoints: null },
    });
    const { attention } = await read("", personOf(test, partner.merchantId));
    expect(attention[0]).toMatchObject({
      ...{ kind: "payment_declined", count: 1, list: "payment-failures" },
    });
    expect(attention.map(({ reason }: { reason: string }) => reason)).not.toContain("payment_failed");
    expect((await read("", developerOf(test, partner))).attention).toMatchObject([
      { reason: "payment_failed" },
      { kind: "review" },
    ]);
  });
});

describe("the figures of today", () => {
  const figuresOf = async (partner: Partner, timeZone = "UTC", client?: Client) =>
    (await read(`merchantId=${partner.merchantId}&days=3&timeZone=${timeZone}`, client)).day;
  /** So many hours after the next midnight in UTC. */
  const goTo = (hours: number) => {
    const dayMs = 86_400_000;
    const next = Math.ceil(test.clock.now().getTime() / dayMs) * dayMs + hours * 3_600_000;
    test.clock.advance({ hours: (next - test.clock.now().getTime()) / 3_600_000 });
  };

  it("stand beside those of yesterday up to the same time, with the value by currency", async () => {
    const partner = await createPartner(test);
    goTo(9);
    const shipped = await placeOrder(partner);
    test.clock.advance({ hours: 3 });
    await runJob(test, "accept-orders");
    await runJob(test, "route-orders");
    await operationApplied(test, shipped.id, "ship");
    await placeOrder(partner);
    goTo(10);
    await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 3 }] });
    const figures = await figuresOf(partner);
    expect(figures).toMatchObject({
      created: { today: 1, yesterday: 1 }, // The second one of yesterday was placed at noon.
      shipped: { today: 0, yesterday: 0 },
      returned: { today: 0, yesterday: 0 },
      isComplete: true,
    });
    const [value] = figures.value;
    expect(Number(value.today.amount)).toBe(3 * Number(value.yesterday.amount));
    goTo(0);
    test.clock.advance({ hours: 13 });
    expect((await figuresOf(partner)).created).toEqual({ today: 0, yesterday: 1 });
    expect((await figuresOf(partner, "UTC", developerOf(test, partner))).value).toBeNull();
  });

  it("are of the days of the time zone, as the orders by day are", async () => {
    const partner = await createPartner(test);
    goTo(23);
    const evening = test.clock.now().toISOString().slice(0, 10);
    await placeOrder(partner);
    test.clock.advance({ hours: 1, minutes: 30 });
    await placeOrder(partner);
    const days = async (timeZone: string) =>
      (await read(`merchantId=${partner.merchantId}&days=3&timeZone=${timeZone}`)).ordersByDay;
    expect((await days("UTC")).map(({ day }: { day: string }) => day)).toEqual([
      evening,
      test.clock.now().toISOString().slice(0, 10),
    ]);
    // In Tokyo both were placed on the same morning, in Los Angeles on the same afternoon.
    expect(await days("Asia/Tokyo")).toMatchObject([{ counts: [{ count: 2 }] }]);
    expect(await days("America/Los_Angeles")).toMatchObject([{ day: evening, counts: [{ count: 2 }] }]);
    expect((await figuresOf(partner, "Asia/Tokyo")).created).toEqual({ today: 2, yesterday: 0 });
    expect((await figuresOf(partner)).created.today).toBe(1);
  });

  it("count what is late, now and a day ago, with the list of exactly these", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    const shipped = await placeOrder(partner);
    test.clock.advance({ hours: 3 });
    await runJob(test, "accept-orders");
    await runJob(test, "route-orders");
    expect((await figuresOf(partner)).late).toEqual({ today: 0, yesterday: 0 });
    test.clock.advance({ hours: 46 });
    expect((await figuresOf(partner)).late).toEqual({ today: 2, yesterday: 0 });
    test.clock.advance({ hours: 24 });
    await operationApplied(test, shipped.id, "ship");
    expect((await figuresOf(partner)).late).toEqual({ today: 1, yesterday: 2 });
    const { attention } = await read(`merchantId=${partner.merchantId}`);
    expect(attention).toMatchObject([{ kind: "late", count: 1 }]);
    expect((await test.backOffice.get(`/api/orders?${attention[0].query}`)).body.data).toHaveLength(1);
    expect((await figuresOf(partner, "UTC", developerOf(test, partner))).late).toBeNull();
    expect((await read("", developerOf(test, partner))).attention).toEqual([]);
  });

  it("know whether there was any order yet, for the first steps of a merchant", async () => {
    const partner = await createPartner(test);
    expect((await read(`merchantId=${partner.merchantId}`)).hasOrders).toBe(false);
    await placeOrder(partner);
    test.clock.advance({ hours: 200 });
    expect(await read(`merchantId=${partner.merchantId}&days=2`)).toMatchObject({
      hasOrders: true,
      ordersByDay: [],
    });
  });
});
