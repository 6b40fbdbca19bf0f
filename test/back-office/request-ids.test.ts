import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { processDuePayments } from "../support/payments.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const id = (text: string) => ({ headers: { "x-request-id": text } });
const described = async (orderId: string) => (await test.backOffice.get(`/api/orders/${orderId}`)).body;
/** The operations of the timeline, or the kinds of the charges, with their requests. */
const timelineOf = async (orderId: string) =>
  (await described(orderId)).timeline.map((entry: Record<string, unknown>) => [
    entry["operation"],
    entry["requestId"],
  ]);
const chargesOf = async (orderId: string) =>
  (await described(orderId)).charges.map((entry: Record<string, unknown>) => [
    entry["kind"],
    entry["requestId"],
  ]);
const create = async (requestId: string) =>
  (await test.partner(partner.key).post("/v1/orders", anOrder(partner), id(requestId))).body.id;

describe("the requestId of what a request has changed", () => {
  it("is that of the creation, of the cancel by the partner, and of the refund that follows", async () => {
    const orderId = await create("r-create");
    expect(await timelineOf(orderId)).toEqual([["create", "r-create"]]);
    expect(await chargesOf(orderId)).toEqual([["goods", "r-create"]]);
    await processDuePayments(test);
    const api = test.partner(partner.key);
    await api.post(`/v1/orders/${orderId}/cancel`, undefined, id("r-cancel"));
    await api.post(`/v1/orders/${orderId}/cancel`, undefined, id("r-again"));
    expect(await timelineOf(orderId)).toEqual([
      ["create", "r-create"],
      ["cancel", "r-cancel"],
    ]);
    expect(await chargesOf(orderId)).toEqual([
      ["goods", "r-create"],
      ["refund", "r-cancel"],
    ]);
  });

  it("is that of the first request when a retry replays it", async () => {
    const order = anOrder(partner);
    const api = test.partner(partner.key);
    const [first, second] = [
      await api.post("/v1/orders", order, id("r-first")),
      await api.post("/v1/orders", order, id("r-second")),
    ];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await timelineOf(first.body.id)).toEqual([["create", "r-first"]]);
  });

  it("is each creation's own when they are stored as a group", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, count) => create(`r-group-${count}`)));
    for (const [count, orderId] of ids.entries()) {
      expect(await timelineOf(orderId)).toEqual([["create", `r-group-${count}`]]);
      expect(await chargesOf(orderId)).toEqual([["goods", `r-group-${count}`]]);
    }
  });

  it("is that of operations of the back office; the service's own changes have none", async () => {
    const orderId = (await placeOrder(partner)).id;
    await test.backOffice.post(`/api/orders/${orderId}/hold`, {}, id("r-hold"));
    await test.backOffice.post(`/api/orders/${orderId}/release-hold`, {}, id("r-release"));
    test.clock.advance({ hours: 2 });
    await runJob(test, "accept-orders");
    await test.backOffice.post(`/api/orders/${orderId}/cancel`, {}, id("r-cancel"));
    const [, ...changes] = await timelineOf(orderId);
    expect(changes).toEqual([
      ["hold", "r-hold"],
      ["releaseHold", "r-release"],
      ["accept", null],
      ["cancel", "r-cancel"],
    ]);
  });

  it("is that of the request that a deadline was stored with, for the request's own entry alone", async () => {
    const orderId = (await placeOrder(partner)).id;
    test.clock.advance({ hours: 2 });
    await test.backOffice.post(`/api/orders/${orderId}/hold`, {}, id("r-late"));
    const [, ...changes] = await timelineOf(orderId);
    expect(changes).toEqual([
      ["accept", null],
      ["hold", "r-late"],
    ]);
  });

  it("is that of a transition of a test order", async () => {
    const api = test.partner(partner.key);
    const order = await api.post("/v1/orders", anOrder(partner, { testMode: true }), id("r-test"));
    const path = `/v1/test/orders/${order.body.id}/transitions`;
    await api.post(path, { transition: "accept" }, id("r-accept"));
    const rows = await test.db.query<{ request_id: string }>({
      name: "",
      text: "select request_id from timeline_entries where request_id = 'r-accept'",
      values: [],
    });
    expect(rows).toHaveLength(1);
  });
});
