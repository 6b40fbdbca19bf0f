import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let stranger: Client;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  partner = await createPartner(test);
  stranger = personOf(test, (await createPartner(test)).merchantId);
});
afterAll(() => test.close());

const note = (id: string, text: unknown, client: Client = test.backOffice) =>
  client.post(`/api/orders/${id}/notes`, { text });

describe("POST /api/orders/{id}/notes", () => {
  it("adds a note to the timeline, with its author, moves updatedAt, and changes nothing else", async () => {
    const { id } = await placeOrder(partner);
    const before = await readDetail(test, id);
    test.clock.advance({ seconds: 5 });
    const { status, body } = await note(id, "Call Ada first", warehouseOf(test));
    expect(status).toBe(201);
    expect(body.timeline.at(-1)).toMatchObject({
      operation: "note",
      detail: "Call Ada first",
      actor: { kind: "warehouse", name: "Wilma Packer" },
      status: "NEW",
    });
    const { timeline: _, ...order } = await readDetail(test, id);
    const { timeline: __, ...unchanged } = before;
    expect(order).toEqual({ ...unchanged, updatedAt: test.clock.now().toISOString() });
    const { body: events } = await partner.client.get(`/v1/events?orderId=${id}`);
    expect(events.data).toHaveLength(1);
  });

  it("is possible in every status, and erased with the personal data", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "cancel");
    expect((await note(id, "Wrong Ada")).status).toBe(201);
    const erased = await operationApplied(test, id, "erase-personal-data");
    expect(JSON.stringify(erased)).not.toContain("Wrong Ada");
  });

  it("rejects empty and long texts, a foreign order, and a test order", async () => {
    const { id } = await placeOrder(partner);
    for (const text of ["", "x".repeat(1_001), 1, undefined]) expect((await note(id, text)).status).toBe(422);
    expect((await note(id, "x".repeat(1_000))).status).toBe(201);
    expect((await note(id, "mine", stranger)).status).toBe(404);
    expect((await note((await placeTestOrder(partner)).id, "test")).status).toBe(404);
  });

  it("accepts 100 of an order and no more, also at once", async () => {
    const { id } = await placeOrder(partner);
    const answers = await Promise.all(Array.from({ length: 103 }, (_, index) => note(id, `note ${index}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    const rejected = answers.filter(({ status }) => status !== 201).map(({ body }) => body);
    for (const body of rejected)
      expect(body).toMatchObject({ code: "limit-reached", limit: "orderNotes", maximum: 100 });
  });
});

describe("GET /api/orders/{id}/events", () => {
  it("lists the events, oldest first, with their deliveries, and pages through them", async () => {
    const endpoint = await createEndpoint(partner, { url: "https://127.0.0.1:9/hook?secret=1" });
    const { id } = await placeOrder(partner);
    test.clock.advance({ seconds: 1 });
    await operationApplied(test, id, "hold");
    test.clock.advance({ seconds: 1 });
    await operationApplied(test, id, "cancel");
    const path = `/api/orders/${id}/events`;
    const { body } = await test.backOffice.get(path);
    expect(body.data).toMatchObject([
      { type: "order.created", sequence: 1, deliveries: [{ endpointId: endpoint.id, status: "pending" }] },
      { type: "order.onHold", sequence: 2 },
      { type: "order.canceled", sequence: 3 },
    ]);
    expect(body.data[0].deliveries[0].endpointUrl).toBe("https://127.0.0.1:9/hook?…");
    const log = await partner.client.get(`/v1/deliveries?orderId=${id}`);
    const ids = body.data.map((event: { deliveries: { id: string }[] }) => event.deliveries[0]?.id);
    expect(ids.toSorted()).toEqual(log.body.data.map((each: { id: string }) => each.id).toSorted());
    expect(body.endpoints).toEqual([
      {
        endpointId: endpoint.id,
        endpointUrl: "https://127.0.0.1:9/hook?…",
        acknowledgedSequence: null,
        sequence: 3,
        behindSince: body.data[0].createdAt,
      },
    ]);
    await test.db.runScript("update deliveries set status = 'succeeded' where sequence < 3");
    expect((await test.backOffice.get(path)).body.endpoints).toMatchObject([
      { acknowledgedSequence: 2, sequence: 3, behindSince: body.data[2].createdAt },
    ]);
    await test.db.runScript("update deliveries set status = 'succeeded'");
    expect((await test.backOffice.get(path)).body.endpoints).toMatchObject([
      { acknowledgedSequence: 3, sequence: 3, behindSince: null },
    ]);
    await test.db.runScript("update deliveries set status = 'pending'");
    const first = await test.backOffice.get(`${path}?limit=2`);
    const second = await test.backOffice.get(`${path}?limit=2&cursor=${first.body.nextCursor}`);
    expect([...first.body.data, ...second.body.data]).toEqual(body.data);
    expect(second.body.nextCursor).toBeNull();
  });

  it("shows them to the merchant and to the connection's developers, and to no other caller", async () => {
    const { id } = await placeTestOrder(partner);
    const path = `/api/orders/${id}/events`;
    const developer = (key: Partner) =>
      test.backOfficeFor({ name: "Dev", grants: [{ role: "partner", connections: [connectionKey(key)] }] });
    const seen = [test.backOffice, personOf(test, partner.merchantId), developer(partner)];
    for (const client of seen)
      expect((await client.get(path)).body.data).toMatchObject([{ type: "order.created" }]);
    const others = [stranger, developer(await createPartner(test))];
    for (const client of others) expect((await client.get(path)).status).toBe(404);
    expect((await warehouseOf(test).get(path)).status).toBe(403);
    expect((await test.backOffice.get(`${path}?cursor=x`)).status).toBe(422);
  });
});
