import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey, createPartner, createProduct, type Partner } from "../support/builders.ts";
import { CERTIFICATIONS } from "../support/certification.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, pauseEndpoint } from "../support/webhooks.ts";

// docs/design/certification.md

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const start = (endpointId: string, by = partner.client) => by.post(CERTIFICATIONS, { endpointId });
const aTestEndpoint = (fields: object = {}) => createEndpoint(partner, { mode: "test", ...fields });

describe("POST /v1/test/certifications", () => {
  it("begins a run for a test endpoint, with every check pending", async () => {
    const { id: endpointId } = await aTestEndpoint();
    const { status, headers, body } = await start(endpointId);
    expect(status).toBe(201);
    expect(headers["location"]).toBe(`${CERTIFICATIONS}/${body.id}`);
    expect(body).toMatchObject({ endpointId, status: "running", phase: "challenge", finishedAt: null });
    expect(body.lostCreation.externalOrderId).toBe(`${body.id}-lost-creation`);
    expect(new Set(body.checks.map(({ result }: { result: string }) => result))).toEqual(
      new Set(["pending"]),
    );
    expect((await partner.client.get(`${CERTIFICATIONS}/${body.id}`)).body).toEqual(body);
    expect((await partner.client.get(CERTIFICATIONS)).body.data).toEqual([body]);
  });

  it("works with a test key", async () => {
    const { id } = await aTestEndpoint();
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    expect((await start(id, test.partner(key))).status).toBe(201);
  });

  it("rejects a live endpoint, a paused one, and one that lacks the events", async () => {
    const { id: live } = await createEndpoint(partner);
    expectProblem(await start(live), 422, "validation-failed", {
      errors: [expect.objectContaining({ pointer: "/endpointId", rule: "test_endpoint" })],
    });
    const { id: paused } = await aTestEndpoint();
    await pauseEndpoint(test, paused);
    expectProblem(await start(paused), 409, "endpoint-paused");
    const { id: silent } = await aTestEndpoint({ eventTypes: ["order.created"] });
    expectProblem(await start(silent), 409, "certification-not-possible", {
      reason: "event-types",
      certificationId: null,
      detail: expect.stringContaining("order.shipmentCreated, order.completed"),
    });
  });

  it("answers another connection's endpoint and run exactly as missing ones", async () => {
    const { id } = await aTestEndpoint();
    const { body: run } = await start(id);
    const stranger = (await createPartner(test)).client;
    const missing = await start("whe_nothing");
    expectProblem(missing, 404, "not-found");
    expect((await start(id, stranger)).body).toEqual(missing.body);
    const path = `${CERTIFICATIONS}/${run.id}`;
    for (const call of [stranger.get(path), stranger.post(`${path}/cancel`)])
      expectProblem(await call, 404, "not-found");
    expect((await stranger.get(CERTIFICATIONS)).body.data).toEqual([]);
    expect((await partner.client.get(path)).body.status).toBe("running");
  });

  it("needs a product that can be ordered, and says so", async () => {
    const merchant = partner.merchantId;
    const { body: connection } = await test.backOffice.post(`/api/merchants/${merchant}/connections`, {
      name: "New",
    });
    await createProduct(test, merchant); // Not exposed.
    const { key } = await createKey(test, connection.id);
    const client = test.partner(key);
    const { id } = await createEndpoint({ ...partner, client }, { mode: "test" });
    expectProblem(await start(id, client), 409, "certification-not-possible", {
      reason: "no-product",
      certificationId: null,
    });
  });

  it("twenty at once: one begins, and the others name it", async () => {
    const { id } = await aTestEndpoint();
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(id)));
    const [begun, ...more] = answers.filter(({ status }) => status === 201);
    expect(more).toEqual([]);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, "certification-not-possible", {
        reason: "running",
        certificationId: begun?.body.id,
      });
  });

  it("needs a pause of a minute between two runs for an endpoint, and keeps the newest 50", async () => {
    const { id } = await aTestEndpoint();
    for (let count = 0; count < 51; count += 1) {
      const { body } = await start(id);
      const ended = await partner.client.post(`${CERTIFICATIONS}/${body.id}/cancel`);
      expect(ended.body).toMatchObject({ status: "canceled", phase: null });
      const soon = await start(id);
      expectProblem(soon, 429, "rate-limited");
      expect(soon.headers["retry-after"]).toBe("60");
      test.clock.advance({ minutes: 1 });
    }
    const { body: page } = await partner.client.get(`${CERTIFICATIONS}?limit=100`);
    expect(page.data).toHaveLength(50);
    expect(page.nextCursor).toBeNull();
  });
});

describe("POST /api/connections/{id}/certifications", () => {
  const path = () => `/api/connections/${partner.connectionId}/certifications`;
  const begin = (endpointId: string, by = test.backOffice) => by.post(path(), { endpointId });

  it("begins the same run, under the same rules, and cancels it", async () => {
    const { id: endpointId } = await aTestEndpoint();
    const { status, body: run } = await begin(endpointId);
    expect(status).toBe(201);
    expect((await partner.client.get(`${CERTIFICATIONS}/${run.id}`)).body).toEqual(run);
    const running = { reason: "running", certificationId: run.id };
    for (const second of [await start(endpointId), await begin(endpointId)])
      expectProblem(second, 409, "certification-not-possible", running);
    const canceled = await test.backOffice.post(`${path()}/${run.id}/cancel`);
    expect(canceled.body).toMatchObject({ id: run.id, status: "canceled", phase: null });
    expect((await test.backOffice.post(`${path()}/${run.id}/cancel`)).body).toEqual(canceled.body);
    expectProblem(await begin(endpointId), 429, "rate-limited");
    const { body: audit } = await test.backOffice.get(`/api/audit-entries?subjectId=${endpointId}`);
    expect(audit.data.slice(0, 2)).toMatchObject(
      ["cancelCertification", "createCertification"].map((action) => ({
        action,
        details: { certificationId: run.id },
      })),
    );
  });

  it("rejects a live endpoint, and answers those of others as missing ones", async () => {
    const { id: live } = await createEndpoint(partner);
    expectProblem(await begin(live), 422, "validation-failed", {
      errors: [expect.objectContaining({ pointer: "/endpointId", rule: "test_endpoint" })],
    });
    const other = await createPartner(test);
    const { id: foreign } = await createEndpoint(other, { mode: "test" });
    const missing = await begin("whe_nothing");
    expectProblem(missing, 404, "not-found");
    expect((await begin(foreign)).body).toEqual(missing.body);
    const { body: run } = await start(foreign, other.client);
    expectProblem(await test.backOffice.post(`${path()}/${run.id}/cancel`), 404, "not-found");
    expect((await other.client.get(`${CERTIFICATIONS}/${run.id}`)).body.status).toBe("running");
  });
});

describe("a run", () => {
  it.each([
    ["is paused", (id: string) => pauseEndpoint(test, id), "paused"],
    [
      "is deleted",
      (id: string) => partner.client.request("DELETE", `/v1/webhook-endpoints/${id}`),
      "deleted",
    ],
    [
      "gets another address",
      (id: string) =>
        partner.client.request("PATCH", `/v1/webhook-endpoints/${id}`, {
          body: { url: "https://1.1.1.1/stranger" },
        }),
      "changed",
    ],
  ])("ends when its endpoint %s: the challenge has proved another one", async (_name, change, reason) => {
    const { id } = await aTestEndpoint();
    const { body: run } = await start(id);
    test.clock.advance({ ms: 1 });
    await change(id);
    await runJob(test, "advance-certifications");
    const { body } = await partner.client.get(`${CERTIFICATIONS}/${run.id}`);
    expect(body).toMatchObject({ status: "failed", reason: expect.stringContaining(reason) });
    expect(body.checks).toContainEqual(expect.objectContaining({ check: "valid", result: "skipped" }));
  });
});
