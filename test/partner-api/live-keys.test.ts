import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { expectProblem } from "../support/orders.ts";
import {
  createDatabase,
  startServiceForTest,
  startTestService,
  type TestService,
} from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await createDatabase();
  test = await startTestService({ databaseUrl });
  partner = await createPartner(test);
});
afterAll(() => test.close());

const revoke = (keyId: string) => test.backOffice.post(`/api/keys/${keyId}/revoke`);

describe("a key that expires", () => {
  it("is valid until that time, and not at it", async () => {
    const lived = await startServiceForTest();
    const { connectionId } = await createPartner(lived);
    const expiresAt = new Date(lived.clock.now().getTime() + 60_000).toISOString();
    const client = lived.partner((await createKey(lived, connectionId, { expiresAt })).key);
    lived.clock.advance({ ms: 59_999 });
    expect((await client.get("/v1/me")).status).toBe(200);
    lived.clock.advance({ ms: 1 });
    expectProblem(await client.get("/v1/me"), 401, "unauthorized");
  });

  it("does not expire when no time was set", async () => {
    const lived = await startServiceForTest();
    const { client } = await createPartner(lived);
    lived.clock.advance({ hours: 24 * 365 * 20 });
    expect((await client.get("/v1/me")).status).toBe(200);
  });
});

describe("several keys of one connection", () => {
  it("are live at the same time, and see the same orders", async () => {
    const { key } = await createKey(test, partner.connectionId);
    const { id } = await placeOrder(partner);
    expect((await test.partner(key).get(`/v1/orders/${id}`)).status).toBe(200);
    expect((await partner.client.get(`/v1/orders/${id}`)).status).toBe(200);
  });

  it("share one space of idempotency keys", async () => {
    const { key } = await createKey(test, partner.connectionId);
    const order = anOrder(partner);
    const { body: first } = await partner.client.post("/v1/orders", order);
    const again = await test.partner(key).post("/v1/orders", order);
    expect(again.status).toBe(200);
    expect(again.body.id).toBe(first.id);
  });

  it("end one by one: the others stay valid when one is revoked", async () => {
    const first = await createKey(test, partner.connectionId);
    const second = await createKey(test, partner.connectionId);
    await revoke(first.id);
    expect((await test.partner(first.key).get("/v1/me")).status).toBe(401);
    expect((await test.partner(second.key).get("/v1/me")).status).toBe(200);
    expect((await partner.client.get("/v1/me")).status).toBe(200);
  });
});

describe("a revoked key", () => {
  it("is rejected by the very next request", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    const client = test.partner(key);
    for (let count = 0; count < 5; count += 1) expect((await client.get("/v1/me")).status).toBe(200);
    await revoke(id);
    expectProblem(await client.get("/v1/me"), 401, "unauthorized");
  });

  it("is rejected by the very next request in every process on the database", async () => {
    const second = await startServiceForTest({ databaseUrl });
    const { id, key } = await createKey(test, partner.connectionId);
    const client = second.partner(key);
    expect((await client.get("/v1/me")).status).toBe(200);
    await revoke(id);
    expectProblem(await client.get("/v1/me"), 401, "unauthorized");
  });

  it("is rejected also among many live ones that are looked up together", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    await revoke(id);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        test.partner(index % 2 === 0 ? key : partner.key).get("/v1/me"),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 401 : 200)),
    );
  });

  it("leaves its orders with the connection", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    const order = await placeOrder({ ...partner, client: test.partner(key) });
    await revoke(id);
    expect((await partner.client.get(`/v1/orders/${order.id}`)).status).toBe(200);
  });
});
