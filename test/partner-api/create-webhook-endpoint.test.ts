import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";
import {
  anEndpoint,
  createEndpoint,
  ENDPOINTS,
  endpointPath,
  readRows,
  uuidIn,
} from "../support/webhooks.ts";

const NAMED_IN_SPECIFICATION = [
  "order.created",
  "order.canceled",
  "order.onHold",
  "order.onHoldReleased",
  "order.shipmentCreated",
  "order.shipmentReturned",
  "order.completed",
  "product.published",
];
const OPT_IN = ["order.accepted", "order.inProgress", "order.shipmentUpdated", "order.paymentFailed"];

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("POST /v1/webhook-endpoints", () => {
  it("returns 201 with a Location and the endpoint, which receives the eight standard events by default", async () => {
    const { status, headers, body } = await partner.client.post(ENDPOINTS, { url: "https://1.1.1.1/hooks" });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(headers["location"]).toBe(`${ENDPOINTS}/${body.id}`);
    const now = test.clock.now().toISOString();
    expect(body).toEqual({
      id: expect.stringMatching(/^whe_[0-9a-z]{26}$/),
      mode: "live",
      kind: "push",
      url: "https://1.1.1.1/hooks",
      description: null,
      eventTypes: NAMED_IN_SPECIFICATION,
      status: "active",
      pauseReason: null,
      pausedAt: null,
      maxInFlight: 8,
      alertEmail: null,
      headers: {},
      lastSuccessAt: null,
      consecutiveFailures: 0,
      backingOffUntil: null,
      pendingDeliveries: 0,
      behind: { orders: 0, events: 0, oldestSince: null },
      createdAt: now,
      updatedAt: now,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  it("accepts every field, and opt-in events", async () => {
    const fields = { description: "Orders \u{1f375}", eventTypes: OPT_IN, maxInFlight: 20 };
    expect(await createEndpoint(partner, fields)).toMatchObject(fields);
  });

  it("counts a duplicate event type once", async () => {
    const { eventTypes } = await createEndpoint(partner, {
      eventTypes: ["order.created", "order.canceled", "order.created"],
    });
    expect(eventTypes).toEqual(["order.created", "order.canceled"]);
  });

  it("creates a new endpoint without failures and without a lease", async () => {
    const { id } = await createEndpoint(partner);
    const now = test.clock.now();
    expect(await readRows(test, "webhook_endpoint_states", id)).toEqual([
      expect.objectContaining({
        worker_id: null,
        leased_until: now,
        consecutive_failures: 0,
        failing_since: null,
        last_failure_at: null,
        last_success_at: now,
        backoff_until: null,
        warnings_sent: 0,
      }),
    ]);
  });

  it("creates another endpoint for the same request", async () => {
    const request = anEndpoint();
    const [one, two] = await Promise.all([
      partner.client.post(ENDPOINTS, request),
      partner.client.post(ENDPOINTS, request),
    ]);
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(two.body.id);
    expect(one.body.secret).not.toBe(two.body.secret);
  });

  it.each<[string, object, string[]]>([
    ["no url", { url: undefined }, ["/url"]],
    ["a url that is no text", { url: 1 }, ["/url"]],
    ["http", { url: "http://1.1.1.1/" }, ["/url"]],
    ["a loopback address", { url: "https://127.0.0.1/" }, ["/url"]],
    ["a private address", { url: "https://10.0.0.1/" }, ["/url"]],
    ["a private address in IPv6", { url: "https://[::ffff:10.0.0.1]/" }, ["/url"]],
    ["the metadata address", { url: "https://169.254.169.254/" }, ["/url"]],
    ["a local name", { url: "https://localhost/" }, ["/url"]],
    ["a password", { url: "https://a:b@1.1.1.1/" }, ["/url"]],
    ["a fragment", { url: "https://1.1.1.1/#a" }, ["/url"]],
    ["an unknown event type", { eventTypes: ["order.created", "order.lost"] }, ["/eventTypes/1"]],
    ["the type of pings", { eventTypes: ["webhook.ping"] }, ["/eventTypes/0"]],
    ["no event type", { eventTypes: [] }, ["/eventTypes"]],
    ["a long description", { description: "x".repeat(256) }, ["/description"]],
    ["NUL in the description", { description: "\u0000" }, ["/description"]],
    ["no request in flight", { maxInFlight: 0 }, ["/maxInFlight"]],
    ["too many in flight", { maxInFlight: 101 }, ["/maxInFlight"]],
    ["half a request", { maxInFlight: 1.5 }, ["/maxInFlight"]],
    [
      "all at once",
      { url: "x", eventTypes: [1], maxInFlight: "8" },
      ["/url", "/eventTypes/0", "/maxInFlight"],
    ],
  ])("rejects %s, and stores nothing", async (_name, fields, pointers) => {
    const before = await dumpTables(test);
    const answer = await partner.client.post(ENDPOINTS, anEndpoint(fields));
    expectErrors(
      answer,
      pointers.map((pointer) => ({ pointer })),
    );
    expect(await dumpTables(test)).toEqual(before);
  });

  it("reports why an address is rejected, and the setting that would accept it", async () => {
    const detailOf = async (url: string) =>
      (await partner.client.post(ENDPOINTS, { url })).body.errors[0].detail;
    const setting = " accepts it if it was started with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true";
    for (const url of ["https://10.0.0.1/", "https://localhost/"])
      expect(await detailOf(url)).toBe(`must be a public address; a service for development${setting}`);
    for (const url of ["http://localhost:3000/", "http://partner.example/"])
      expect(await detailOf(url)).toMatch(/^must be a URL that begins with https:\/\/; .*_NETWORKS=true$/);
    for (const url of ["ftp://localhost/", "https://user@10.0.0.1/"])
      expect(await detailOf(url)).not.toContain("WEBHOOK_ALLOW_PRIVATE_NETWORKS");
  });

  it("accepts fields at their limits", async () => {
    const url = `https://1.1.1.1/${"x".repeat(2_048 - 16)}`;
    const most = await createEndpoint(partner, { url, description: "é".repeat(255), maxInFlight: 100 });
    expect(most).toMatchObject({ url, description: "é".repeat(255), maxInFlight: 100 });
    expect(await createEndpoint(partner, { description: null, maxInFlight: 1 })).toMatchObject({
      description: null,
      maxInFlight: 1,
    });
    expectErrors(await partner.client.post(ENDPOINTS, { url: `${url}x` }), [{ pointer: "/url" }]);
  });

  it("accepts addresses without TLS and of private networks if that is allowed", async () => {
    const laptop = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const own = await createPartner(laptop);
    for (const url of ["http://localhost:3000/hooks", "https://10.0.0.1/", "http://[::1]/"])
      expect((await createEndpoint(own, { url })).url).toBe(url);
    expectErrors(await own.client.post(ENDPOINTS, { url: "ftp://localhost/" }), [{ pointer: "/url" }]);
  });

  it("gives endpoints that are registered at the same time different numbers, from 1 in each connection", async () => {
    const other = await createPartner(test);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => other.client.post(ENDPOINTS, anEndpoint())),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect((await numbersOf(answers.map(({ body }) => body.id))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it("never reuses the number of a deleted endpoint", async () => {
    const own = await createPartner(test);
    const { id } = await createEndpoint(own);
    await own.client.request("DELETE", endpointPath(id));
    expect(await numbersOf([(await createEndpoint(own)).id])).toEqual([2]);
  });

  it("lets a connection have at most 200 endpoints, also with concurrent requests", async () => {
    const own = await createPartner(test);
    for (let count = 0; count < 195; count += 5)
      await Promise.all(Array.from({ length: 5 }, () => createEndpoint(own)));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => own.client.post(ENDPOINTS, anEndpoint())),
    );
    const members = { limit: "endpoints", maximum: 200 };
    const rejected = answers.filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(5);
    for (const answer of rejected) expectProblem(answer, 409, "limit-reached", members);
    const { body } = await own.client.get(`${ENDPOINTS}?limit=1`);
    expect((await own.client.request("DELETE", endpointPath(body.data[0].id))).status).toBe(204);
    await createEndpoint(own);
    expectProblem(await own.client.post(ENDPOINTS, anEndpoint()), 409, "limit-reached", members);
    await createEndpoint(partner); // Another connection's limit is its own.
  });

  async function numbersOf(endpointIds: string[]): Promise<number[]> {
    const numbers: number[] = [];
    for (const id of endpointIds) {
      const [row] = await test.db.query<{ number: number }>({
        name: "test-read-number",
        text: "select number from webhook_endpoints where id = $1",
        values: [uuidIn("whe", id)],
      });
      numbers.push(row?.number ?? 0);
    }
    return numbers;
  }
});
