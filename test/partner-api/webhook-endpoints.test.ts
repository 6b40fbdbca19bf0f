import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { expectErrors, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, ENDPOINTS, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const patch = (endpointId: string, body: object) =>
  partner.client.request("PATCH", endpointPath(endpointId), { body });

describe("GET /v1/webhook-endpoints", () => {
  it("lists a connection's endpoints, oldest first, without their secrets", async () => {
    const own = await createPartner(test);
    const registered = [await createEndpoint(own), await createEndpoint(own), await createEndpoint(own)];
    const { body } = await own.client.get(ENDPOINTS);
    expect(body).toEqual({
      data: registered.map(({ secret: _, ...endpoint }) => endpoint),
      nextCursor: null,
    });
  });

  it("is empty at first, and pages by a cursor", async () => {
    const own = await createPartner(test);
    expect((await own.client.get(ENDPOINTS)).body).toEqual({ data: [], nextCursor: null });
    const ids = [
      (await createEndpoint(own)).id,
      (await createEndpoint(own)).id,
      (await createEndpoint(own)).id,
    ];
    const first = (await own.client.get(`${ENDPOINTS}?limit=2`)).body;
    const second = (await own.client.get(`${ENDPOINTS}?limit=2&cursor=${first.nextCursor}`)).body;
    expect([...first.data, ...second.data].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it.each(["limit=0", "limit=101", "limit=x", "cursor=x", "cursor="])("rejects %s", async (query) => {
    const [parameter = ""] = query.split("=");
    expectErrors(await partner.client.get(`${ENDPOINTS}?${query}`), [{ parameter }]);
  });
});

describe("GET /v1/webhook-endpoints/{endpointId}", () => {
  it("returns the endpoint without its secret", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner);
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toEqual(endpoint);
  });

  it("shows when and why an endpoint was paused", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id, "gone");
    expect((await partner.client.get(endpointPath(id))).body).toMatchObject({
      status: "paused",
      pauseReason: "gone",
      pausedAt: test.clock.now().toISOString(),
    });
  });
});

describe("PATCH /v1/webhook-endpoints/{endpointId}", () => {
  it("changes the fields that are sent, and the time of the last change", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner, { description: "old" });
    test.clock.advance({ minutes: 1 });
    const updatedAt = test.clock.now().toISOString();
    const changes = [
      { url: "https://1.1.1.1/new" },
      { description: "new" },
      { eventTypes: ["order.accepted"] },
      { maxInFlight: 3 },
      { description: null },
      { alertEmail: "oncall@partner.example" },
      { alertEmail: null },
      {},
    ];
    let expected = { ...endpoint, updatedAt };
    for (const change of changes) {
      expected = { ...expected, ...change };
      expect((await patch(endpoint.id, change)).body).toEqual(expected);
    }
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toEqual(expected);
  });

  it("stores the address for warnings in its normal form, audits it, and forgets it with the endpoint", async () => {
    const { id } = await createEndpoint(partner, { alertEmail: "On.Call@xn--bcher-kva.example" });
    const { body } = await partner.client.get(endpointPath(id));
    expect(body.alertEmail).toBe("On.Call@bücher.example");
    await patch(id, { alertEmail: null });
    await patch(id, { alertEmail: "b@bücher.example" });
    await partner.client.request("DELETE", endpointPath(id));
    const entries = await test.backOffice.get(`/api/audit-entries?subjectId=${id}`);
    expect(entries.body.data.map(({ details }: { details: object }) => details)).toEqual([
      {},
      { alertEmail: "b@bücher.example" },
      { alertEmail: "null" },
      expect.objectContaining({ alertEmail: "On.Call@bücher.example" }),
    ]);
    const { webhook_endpoints: stored } = await dumpTables(test);
    expect(JSON.stringify(stored)).not.toContain("bücher");
  });

  it("ignores null where there is always a value", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner);
    const { status, body } = await patch(endpoint.id, { url: null, eventTypes: null, maxInFlight: null });
    expect([status, body]).toEqual([200, { ...endpoint, updatedAt: body.updatedAt }]);
  });

  it("rejects fields that a partner cannot set, and changes nothing", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner);
    const answer = await patch(endpoint.id, { status: "paused", secret: "whsec_", id: "x" });
    expectErrors(answer, [{ pointer: "/status" }, { pointer: "/secret" }, { pointer: "/id" }]);
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toEqual(endpoint);
  });

  it.each<[object, string]>([
    [{ url: "https://192.168.0.1/" }, "/url"],
    [{ url: "" }, "/url"],
    [{ eventTypes: [] }, "/eventTypes"],
    [{ eventTypes: ["x"] }, "/eventTypes/0"],
    [{ description: "x".repeat(256) }, "/description"],
    [{ maxInFlight: 101 }, "/maxInFlight"],
    [{ alertEmail: "partner.example" }, "/alertEmail"],
    [{ alertEmail: "a@b.example, c@d.example" }, "/alertEmail"],
    [{ alertEmail: "a@b.example\r\nBcc: c@d.example" }, "/alertEmail"],
  ])("rejects %j, and changes nothing", async (change, pointer) => {
    const { id } = await createEndpoint(partner);
    const before = await dumpTables(test);
    expectErrors(await patch(id, change), [{ pointer }]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("loses no change of two concurrent ones", async () => {
    const { id } = await createEndpoint(partner);
    await Promise.all([patch(id, { description: "both" }), patch(id, { maxInFlight: 2 })]);
    expect((await partner.client.get(endpointPath(id))).body).toMatchObject({
      description: "both",
      maxInFlight: 2,
    });
  });
});

describe("a missing endpoint", () => {
  const routes = (id: string): [method: string, path: string, body?: object][] => [
    ["GET", endpointPath(id)],
    ["PATCH", endpointPath(id), { description: "x" }],
    ["DELETE", endpointPath(id)],
    ["POST", endpointPath(id, "rotate-secret"), {}],
    ["POST", endpointPath(id, "ping")],
    ["POST", endpointPath(id, "resume")],
    ["POST", endpointPath(id, "recover"), { since: test.clock.now().toISOString() }],
  ];
  const answersFor = async (id: string) => {
    const answers: string[] = [];
    for (const [method, path, body] of routes(id)) {
      const answer = await partner.client.request(method, path, body && { body });
      expectProblem(answer, 404, "not-found");
      answers.push(withoutItsOwn(answer));
    }
    return answers;
  };

  it("is 404 on every route, with the same response for another connection's, a missing, a malformed and a deleted one", async () => {
    const other = await createPartner(test);
    const theirs = await createEndpoint(other);
    const deleted = await createEndpoint(partner);
    expect((await partner.client.request("DELETE", endpointPath(deleted.id))).status).toBe(204);
    const before = await dumpTables(test);
    const missing = await answersFor("whe_01m7y7np16fe68bxp4h91tdmdn");
    for (const id of [theirs.id, deleted.id, "x", theirs.id.replace("whe_", "dlv_"), partner.productIds[0]])
      expect(await answersFor(id)).toEqual(missing);
    expect(await dumpTables(test)).toEqual(before);
    expect((await other.client.get(endpointPath(theirs.id))).status).toBe(200);
  });
});
