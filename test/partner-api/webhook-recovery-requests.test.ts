import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { uuidAt } from "../../src/platform/ids.ts";
import { DAY_MS } from "../../src/platform/time.ts";
import { createPartner, type Partner, readEvents } from "../support/builders.ts";
import { connectionUuid, expectErrors, expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, pauseEndpoint, readRows, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());
afterEach(() => vi.restoreAllMocks());

const post = (endpointId: string, operation: string, body?: object) =>
  partner.client.post(endpointPath(endpointId, operation), body);
const inMs = (ms: number) => new Date(test.clock.now().getTime() + ms);

/** The connections whose dispatchers were woken since. */
function watchSignals(): string[] {
  const woken: string[] = [];
  vi.spyOn(test.context.signals, "send").mockImplementation(
    (_signal, connections) => void woken.push(...[...connections].map(({ connectionId }) => connectionId)),
  );
  return woken;
}

async function expectHealthy(endpointId: string): Promise<void> {
  const [state] = await readRows(test, "webhook_endpoint_states", endpointId);
  expect(state).toMatchObject({
    consecutive_failures: 0,
    failing_since: null,
    last_failure_at: null,
    backoff_until: null,
    last_success_at: test.clock.now(),
    warnings_sent: 0,
  });
}

describe("POST /v1/webhook-endpoints/{endpointId}/ping", () => {
  it("returns 202 with a delivery that is due at once, and signals the dispatchers", async () => {
    const woken = watchSignals();
    const endpoint = await createEndpoint(partner, { eventTypes: ["product.published"] });
    const { status, body } = await post(endpoint.id, "ping");
    const now = test.clock.now().toISOString();
    expect(status, JSON.stringify(body)).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^dlv_/),
      endpointId: endpoint.id,
      eventId: expect.stringMatching(/^evt_/),
      eventType: "webhook.ping",
      orderId: null,
      status: "pending",
      nextAttemptAt: now,
      createdAt: now,
      attemptCount: 0,
      attempts: [],
      fault: null,
    });
    expect(woken).toEqual([connectionUuid(partner)]);
    const eventId = uuidIn("evt", body.eventId);
    expect(await readRows(test, "due_deliveries", endpoint.id)).toEqual([
      expect.objectContaining({
        stream_id: eventId,
        delivery_id: uuidIn("dlv", body.id),
        event_id: eventId,
        trigger: "schedule",
        attempt_count: 0,
        due_at: test.clock.now(),
        claim_id: null,
        not_after: null,
      }),
    ]);
  });

  it("names its endpoint", async () => {
    const { id, url } = await createEndpoint(partner);
    const { eventId } = (await post(id, "ping")).body;
    const [event] = (await readEvents(test, partner.connectionId)).filter((one) => one.id === eventId);
    expect(event).toEqual({
      id: eventId,
      type: "webhook.ping",
      timestamp: test.clock.now().toISOString(),
      testMode: false,
      connectionId: partner.connectionId,
      sequence: null,
      data: { endpoint: { id, url } },
    });
    expect((await partner.client.get(`/v1/events/${eventId}`)).body).toEqual(event);
  });

  it("goes to that endpoint alone", async () => {
    const [one, other] = [await createEndpoint(partner), await createEndpoint(partner)];
    await post(one.id, "ping");
    expect(await readRows(test, "deliveries", one.id)).toHaveLength(1);
    expect(await readRows(test, "deliveries", other.id)).toEqual([]);
  });

  it("is a new event each time, with the endpoint's number in the delivery's id", async () => {
    const own = await createPartner(test);
    await createEndpoint(own);
    const { id } = await createEndpoint(own);
    const pings = await Promise.all(
      Array.from({ length: 5 }, () => own.client.post(endpointPath(id, "ping"))),
    );
    for (const { body } of pings)
      expect(uuidIn("dlv", body.id)).toBe(`${uuidIn("evt", body.eventId).slice(0, 28)}00000002`);
    expect(new Set(pings.map(({ body }) => body.id)).size).toBe(5);
  });

  it("is rejected on a paused endpoint, and nothing is stored", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    const woken = watchSignals();
    const before = await dumpTables(test);
    expectProblem(await post(id, "ping"), 409, "endpoint-paused");
    expect(await dumpTables(test)).toEqual(before);
    expect(woken).toEqual([]);
  });
});

describe("POST /v1/webhook-endpoints/{endpointId}/resume", () => {
  it("activates a paused endpoint, resets its failures, and sends pending deliveries", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner);
    test.clock.advance({ hours: 100 });
    await pauseEndpoint(test, endpoint.id);
    test.clock.advance({ hours: 1 });
    const woken = watchSignals();
    const { status, body } = await post(endpoint.id, "resume");
    expect(status).toBe(200);
    const { deliveryCount, requestedAt, ...shown } = body;
    expect([deliveryCount, requestedAt]).toEqual([0, test.clock.now().toISOString()]);
    expect(shown).toEqual({ ...endpoint, updatedAt: test.clock.now().toISOString() });
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toEqual(shown);
    await expectHealthy(endpoint.id);
    const since = new Date(endpoint.createdAt);
    expect(await readRows(test, "webhook_resends", endpoint.id)).toEqual([
      expect.objectContaining({
        delivery_status: "pending",
        since,
        until: inMs(0),
        position: uuidAt(since),
        created_at: test.clock.now(),
        finished_at: null,
      }),
    ]);
    expect(woken).toEqual([connectionUuid(partner)]);
  });

  it("ends the backoff of an active endpoint, and requests its retries; the endpoint does not change", async () => {
    const { secret: _, ...endpoint } = await createEndpoint(partner);
    test.clock.advance({ hours: 1 });
    const woken = watchSignals();
    expect((await post(endpoint.id, "resume")).body).toEqual({
      ...endpoint,
      requestedAt: test.clock.now().toISOString(),
      deliveryCount: 0,
    });
    expect(await readRows(test, "webhook_endpoint_states", endpoint.id)).toEqual([
      expect.objectContaining({ backoff_until: null, recovered_at: inMs(0), retries_due: true }),
    ]);
    expect(await readRows(test, "webhook_resends", endpoint.id)).toEqual([]);
    expect(woken).toEqual([connectionUuid(partner)]);
  });

  it("resumes once for many concurrent requests", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(id, "resume")));
    for (const { status, body } of answers) expect([status, body.status]).toEqual([200, "active"]);
    expect(await readRows(test, "webhook_resends", id)).toHaveLength(1);
  });
});

describe("POST /v1/webhook-endpoints/{endpointId}/recover", () => {
  it("returns 202 with the period, and leaves the sending to a worker", async () => {
    const { id } = await createEndpoint(partner);
    const woken = watchSignals();
    const since = inMs(-DAY_MS);
    const { status, body } = await post(id, "recover", { since: since.toISOString() });
    expect(status, JSON.stringify(body)).toBe(202);
    expect(body).toEqual({
      endpointId: id,
      since: since.toISOString(),
      deliveryCount: 0,
      until: inMs(0).toISOString(),
    });
    expect(await readRows(test, "webhook_resends", id)).toEqual([
      expect.objectContaining({
        delivery_status: "failed",
        since,
        until: inMs(0),
        position: uuidAt(since),
        created_at: test.clock.now(),
        finished_at: null,
      }),
    ]);
    expect(woken).toEqual([connectionUuid(partner)]);
  });

  it("resumes a paused endpoint as well, so that one call is enough", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id, "gone");
    expect((await post(id, "recover", { since: inMs(0).toISOString() })).status).toBe(202);
    expect((await partner.client.get(endpointPath(id))).body).toMatchObject({
      status: "active",
      pauseReason: null,
      pausedAt: null,
    });
    await expectHealthy(id);
    // A delivery that has waited since before `since` would otherwise wait without end.
    const recoveries = await readRows(test, "webhook_resends", id);
    expect(recoveries.map(({ delivery_status }) => delivery_status).sort()).toEqual(["failed", "pending"]);
  });

  it("accepts a time in any time zone, and returns it in UTC", async () => {
    const { id } = await createEndpoint(partner);
    const local = `${inMs(-DAY_MS + 7_200_000)
      .toISOString()
      .slice(0, 19)}+02:00`;
    expect((await post(id, "recover", { since: local })).body.since).toBe(inMs(-DAY_MS).toISOString());
  });

  it("reads a leap second as the second before it", async () => {
    const { id } = await createEndpoint(partner);
    const day = inMs(-DAY_MS).toISOString().slice(0, 10);
    const { status, body } = await post(id, "recover", { since: `${day}T23:59:60Z` });
    expect([status, body.since]).toEqual([202, `${day}T23:59:59.000Z`]);
  });

  it.each([0, -1, -30 * DAY_MS])("accepts a time %d ms from now", async (ms) => {
    const { id } = await createEndpoint(partner);
    expect((await post(id, "recover", { since: inMs(ms).toISOString() })).status).toBe(202);
  });

  it.each<[string, () => unknown]>([
    ["ahead by a millisecond", () => inMs(1).toISOString()],
    ["ahead by years", () => "9999-12-31T23:59:59Z"],
    ["30 days and a millisecond ago", () => inMs(-30 * DAY_MS - 1).toISOString()],
    ["before the epoch", () => "0001-01-01T00:00:00Z"],
    ["without a time zone", () => inMs(-DAY_MS).toISOString().slice(0, 19)],
    ["a date alone", () => inMs(-DAY_MS).toISOString().slice(0, 10)],
    ["a day that does not exist", () => "2026-02-30T00:00:00Z"],
    ["a leap second long ago", () => "2016-12-31T23:59:60Z"],
    ["a number", () => 0],
    ["null", () => null],
    ["missing", () => undefined],
  ])("rejects a time that is %s, and stores nothing", async (_name, since) => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    const before = await dumpTables(test);
    expectErrors(await post(id, "recover", { since: since() }), [{ pointer: "/since" }]);
    expect(await dumpTables(test)).toEqual(before);
  });
});
