import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { expectInvalid, requestOrder } from "../support/order-requests.ts";
import { expectProblem, readOrder, readOrderEvents } from "../support/orders.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const SAID = { note: "Ring twice.\n🦊", metadata: { channel: "web", "10": "x", "9": "", é: '{"a": "=1"}' } };
const saidIn = ({ note, metadata }: { note: unknown; metadata: unknown }) => ({ note, metadata });

describe("note and metadata of an order", () => {
  it("are in every order object and in every event, as they were sent", async () => {
    const { id } = await placeOrder(partner, SAID);
    expect(saidIn(await readOrder(partner, id))).toEqual(SAID);
    const canceled = await partner.client.post(`/v1/orders/${id}/cancel`);
    expect(saidIn(canceled.body)).toEqual(SAID);
    const events = await readOrderEvents(test, partner);
    expect(events.map(({ type, data }) => [type, saidIn(data.order)])).toEqual([
      ["order.created", SAID],
      ["order.canceled", SAID],
    ]);
  });

  it("are in the responses and events of the sandbox", async () => {
    const { id } = await placeTestOrder(partner, SAID);
    expect(saidIn(await applied(partner, id, "hold"))).toEqual(SAID);
    const events = await readOrderEvents(test, partner);
    expect(saidIn(events.at(-1).data.order)).toEqual(SAID);
  });

  it("are in the lists and the details of the back office, and stay when the order changes", async () => {
    const { id } = await placeOrder(partner, SAID);
    const list = await test.backOffice.get(`/api/orders?connectionId=${partner.connectionId}`);
    expect(list.body.data.map(saidIn)).toEqual([SAID]);
    expect(saidIn(await operationApplied(test, id, "hold"))).toEqual(SAID);
    expect(saidIn(await readDetail(test, id))).toEqual(SAID);
  });

  it("are null and an empty object if they were not sent", async () => {
    const { id } = await placeOrder(partner);
    const nothing = { note: null, metadata: {} };
    expect(saidIn(await readOrder(partner, id))).toEqual(nothing);
    expect(saidIn(await placeOrder(partner, { metadata: {} }).then((o) => readDetail(test, o.id)))).toEqual(
      nothing,
    );
    const [created] = await readOrderEvents(test, partner);
    expect(saidIn(created.data.order)).toEqual(nothing);
  });

  it("are not in the response of a creation, which has the specified fields", async () => {
    const { body } = await requestOrder(partner, SAID);
    expect(Object.keys(body).sort()).toEqual([
      "createdAt",
      "externalOrderId",
      "id",
      "lines",
      "status",
      "testMode",
    ]);
  });

  it("keep keys that objects of JavaScript have", async () => {
    const metadata = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c", "toJSON": "d"}');
    const { id } = await placeOrder(partner, { metadata });
    expect(JSON.stringify(Object.entries((await readOrder(partner, id)).metadata).sort())).toBe(
      JSON.stringify(Object.entries(metadata).sort()),
    );
  });

  it("belong to the request: a retry has the same, in any order of keys", async () => {
    const request = anOrder(partner, SAID);
    const first = await partner.client.post("/v1/orders", request);
    const metadata = Object.fromEntries(Object.entries(SAID.metadata).toReversed());
    const retry = await partner.client.post("/v1/orders", { ...request, metadata });
    expect([first.status, retry.status, retry.body.id]).toEqual([201, 200, first.body.id]);
  });

  it.each([
    ["another note", { ...SAID, note: "Ring once." }, ["/note"]],
    ["no note", { metadata: SAID.metadata }, ["/note"]],
    ["another value", { ...SAID, metadata: { ...SAID.metadata, channel: "app" } }, ["/metadata/channel"]],
    ["no metadata", { note: SAID.note }, Object.keys(SAID.metadata).map((key) => `/metadata/${key}`)],
  ])("belong to the request: %s makes another one", async (_, said, differences) => {
    const request = anOrder(partner);
    const { body: first } = await partner.client.post("/v1/orders", { ...request, ...SAID });
    const other = await partner.client.post("/v1/orders", { ...request, ...said });
    expectProblem(other, 422, "idempotency-key-reused", { orderId: first.id, differences });
  });

  it("are rejected together, each with its position, and nothing is stored", async () => {
    const metadata = { ok: "1", number: 1, "": "empty" };
    const response = requestOrder(partner, { note: 1, metadata });
    await expectInvalid(test, partner, response, "/metadata", "/metadata/number", "/note");
  });
});
