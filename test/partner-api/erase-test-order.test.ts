import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { countRowsNaming } from "../support/tables.ts";
import { testOrdersPath } from "../support/test-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
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

const erase = (orderId: string, by = partner) => by.client.post(`/v1/test-orders/${orderId}/erase`);
const place = (fields: object) => partner.client.post("/v1/orders", anOrder(partner, fields));

describe("POST /v1/test-orders/{orderId}/erase", () => {
  it("frees the externalOrderId and the key at once, also for a real order", async () => {
    const rehearsed = await placeTestOrder(partner, { externalOrderId: "sale-1" });
    expect((await place({ externalOrderId: "sale-1" })).status).toBe(422);
    expect((await erase("sale-1")).status).toBe(204);
    const real = await place({ externalOrderId: "sale-1" });
    expect(real.status).toBe(201);
    expect(real.body.id).not.toBe(rehearsed.id);
  });

  it("makes every request that names the order 404, itself too, and a worker deletes all of it", async () => {
    await createEndpoint(partner);
    const { id } = await placeTestOrder(partner);
    await transition(partner, id, "ship");
    expect((await erase(id)).status).toBe(204);
    expectProblem(await partner.client.get(`/v1/orders/${id}`), 404, "not-found");
    expectProblem(await transition(partner, id, "hold"), 404, "not-found");
    expectProblem(await partner.client.post(`/v1/orders/${id}/cancel`), 404, "not-found");
    expectProblem(await erase(id), 404, "not-found");
    await runJob(test, "erase-test-orders");
    expect(await countRowsNaming(test, id)).toEqual({});
  });

  it("answers a real order, and one of another connection, exactly as a missing one, and changes nothing", async () => {
    const other = await createPartner(test);
    const real = await placeOrder(partner, { externalOrderId: "real" });
    const foreign = await placeTestOrder(other);
    const missing = (await erase("never-seen")).body;
    for (const id of [real.id, "real", foreign.id])
      expect((await erase(id)).body).toEqual({ ...missing, instance: `/v1/test-orders/${id}/erase` });
    expect((await partner.client.get("/v1/orders/real")).status).toBe(200);
    expect((await other.client.get(`/v1/orders/${foreign.id}`)).status).toBe(200);
  });

  it("beside transitions: each is before it, or finds nothing", async () => {
    const { id } = await placeTestOrder(partner);
    const moves = Array.from({ length: 10 }, (_, index) =>
      index === 5 ? erase(id) : transition(partner, id, index % 2 === 0 ? "hold" : "releaseHold"),
    );
    const statuses = (await Promise.all(moves)).map(({ status }) => status);
    expect(statuses[5]).toBe(204);
    expect(statuses.filter((status) => ![200, 204, 404].includes(status))).toEqual([]);
    await runJob(test, "erase-test-orders");
    expect(await countRowsNaming(test, id)).toEqual({});
  });

  it("of many at once one erases, and one creation gets the number", async () => {
    await placeTestOrder(partner, { externalOrderId: "twice" });
    const erased = await Promise.all([1, 2, 3, 4].map(() => erase("twice")));
    expect(erased.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
    const created = await Promise.all([1, 2, 3].map(() => place({ externalOrderId: "twice" })));
    expect(created.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  });

  it("beside the job that erases: the order is gone once, whichever is first", async () => {
    const { id } = await placeTestOrder(partner);
    const [answer] = await Promise.all([erase(id), runJob(test, "erase-test-orders")]);
    expect(answer.status).toBe(204);
    await runJob(test, "erase-test-orders");
    expect(await countRowsNaming(test, id)).toEqual({});
  });
});

it("the sandbox of the back office erases a test order in the same way, and the audit log says who did", async () => {
  const { id } = await placeTestOrder(partner, { externalOrderId: "seen" });
  expect((await test.backOffice.post(testOrdersPath(partner, `/${id}/erase`))).status).toBe(204);
  expect((await test.backOffice.get(testOrdersPath(partner, `/${id}`))).status).toBe(404);
  expect((await place({ externalOrderId: "seen" })).status).toBe(201);
  const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${id}&action=eraseTestOrder`);
  expect(body.data).toHaveLength(1);
});
