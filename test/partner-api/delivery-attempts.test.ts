import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let endpointId: string;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
  endpointId = (await createEndpoint(partner)).id;
});
afterAll(() => test.close());

const setLimits = (limits: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });

/** Attempts one millisecond after another, each with as much text of control characters as is kept. */
async function addAttempts(deliveryId: string, count: number, trigger = "manual"): Promise<void> {
  await test.db.query({
    name: "test-add-attempts",
    text: `
      insert into attempts (merchant_id, id, delivery_id, trigger, started_at, duration_ms, response_status, response_body)
      select d.merchant_id,
             (lpad(to_hex((extract(epoch from $3::timestamptz) * 1000)::bigint + n), 12, '0') || '70008000000000000000')::uuid,
             d.id, $4, $3::timestamptz + n * interval '1 millisecond', 1, 500, repeat(E'\\x01', 1024)
      from deliveries d, generate_series(1, $2::integer) n
      where d.id = $1`,
    values: [uuidIn("dlv", deliveryId), count, test.clock.now(), trigger],
  });
}

async function aDelivery(): Promise<string> {
  const order = await placeOrder(partner);
  return deliveryOf(partner, endpointId, order.id);
}

describe("the attempts of a delivery", () => {
  it("are the newest hundred of a delivery on its own, and twenty in a list, with their number", async () => {
    const id = await aDelivery();
    await addAttempts(id, 300);
    const { body } = await partner.client.get(`/v1/deliveries/${id}`);
    expect(body.attemptCount).toBe(300);
    expect(body.attempts.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, index) => 201 + index),
    );
    const [listed] = (await partner.client.get("/v1/deliveries")).body.data;
    expect(listed.attemptCount).toBe(300);
    const responses = body.attempts.map(
      ({ request: _request, ...response }: { request: object }) => response,
    );
    expect(listed.attempts).toEqual(responses.slice(-20));
  });

  it("are all of them while there are few", async () => {
    const id = await aDelivery();
    expect((await partner.client.get(`/v1/deliveries/${id}`)).body).toMatchObject({
      attemptCount: 0,
      attempts: [],
    });
    await addAttempts(id, 3);
    const { body } = await partner.client.get(`/v1/deliveries/${id}`);
    expect(body.attemptCount).toBe(3);
    expect(body.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3]);
  });

  it("do not make a page larger than about a megabyte: it ends earlier, and the next one continues", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push(await aDelivery());
    for (const id of ids) await addAttempts(id, 60);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await partner.client.get(`/v1/deliveries?limit=100${query}`);
      expect(JSON.stringify(body).length).toBeLessThan(2_000_000);
      expect(body.data.length).toBeGreaterThan(0);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });
});

describe("redeliveries", () => {
  const redeliver = (id: string) => partner.client.post(`/v1/deliveries/${id}/redeliver`);

  it("are limited for each delivery and day", async () => {
    await setLimits({ redeliveriesPerDay: 3 });
    const id = await aDelivery();
    await addAttempts(id, 2);
    await addAttempts(await aDelivery(), 5);
    expect((await redeliver(id)).status).toBe(202);
    const other = await aDelivery();
    await addAttempts(other, 3);
    const members = { limit: "redeliveriesPerDay", maximum: 3 };
    expectProblem(await redeliver(other), 409, "limit-reached", members);
    test.clock.advance({ hours: 24, ms: 10 });
    expect((await redeliver(other)).status).toBe(202);
  });

  it("count attempts by request only", async () => {
    await setLimits({ redeliveriesPerDay: 3 });
    const id = await aDelivery();
    await addAttempts(id, 13, "schedule");
    expect((await redeliver(id)).status).toBe(202);
  });

  it("end when the log keeps as many attempts of the delivery as it may; a recovery leaves it out", async () => {
    await setLimits({ deliveryAttempts: 15 });
    const [full, other] = [await aDelivery(), await aDelivery()];
    await addAttempts(full, 15, "schedule");
    await addAttempts(other, 14, "schedule");
    const members = { limit: "deliveryAttempts", maximum: 15 };
    expectProblem(await redeliver(full), 409, "limit-reached", members);
    await test.db.query({
      name: "test-fail",
      text: "update deliveries set status = 'failed' where id = any($1::uuid[])",
      values: [[full, other].map((id) => uuidIn("dlv", id))],
    });
    const since = new Date(test.clock.now().getTime() - 1_000).toISOString();
    expect((await partner.client.post(endpointPath(endpointId, "recover"), { since })).status).toBe(202);
    await runJob(test, "resend-deliveries");
    const statuses = [];
    for (const id of [full, other])
      statuses.push((await partner.client.get(`/v1/deliveries/${id}`)).body.status);
    expect(statuses).toEqual(["failed", "pending"]);
  });
});
