import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { toTypeId } from "../../src/platform/ids.ts";
import { claimDeliveries } from "../../src/webhooks/delivery/claim-sql.ts";
import { completeDeliveries } from "../../src/webhooks/delivery/complete-deliveries.ts";
import type { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import { heldUntil } from "../../src/webhooks/faults/delivery-fault.ts";
import { countRows, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  type StoredEndpoint,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import {
  accept,
  answering,
  type ReceivedRequest,
  type Receiver,
  type ReceiverHandler,
  startRawReceiver,
} from "../support/receivers.ts";
import { applied } from "../support/sandbox.ts";
import { testOrdersPath } from "../support/test-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, loseWorker, pauseEndpoint } from "../support/webhooks.ts";

// docs/design/deliveries.md, "Rehearsed faults"

const SECOND_MS = 1_000;

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
});
afterAll(() => test.close());
beforeEach(async () => {
  partner = await createPartner(test);
});

const faultsPath = (orderId: string) => `/v1/test/orders/${orderId}/delivery-faults`;
const arm = (orderId: string, fault: string, fields: object = {}, as = partner): Promise<Answer> =>
  as.client.post(faultsPath(orderId), { fault, ...fields });
async function armed(orderId: string, fault: string, fields: object = {}): Promise<Answer["body"]> {
  const answer = await arm(orderId, fault, fields);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const faultsOf = async (orderId: string): Promise<Answer["body"]> =>
  (await partner.client.get(faultsPath(orderId))).body.data;

function expectRejected({ status, body }: Answer, errors: object[]): void {
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body).toMatchObject({ code: "validation-failed", errors });
}

type World = {
  readonly receiver: Receiver;
  readonly endpoint: StoredEndpoint;
  readonly endpointId: string;
  readonly dispatcher: Dispatcher;
  readonly orderId: string;
  /** Sends what is due now, `seconds` later. */
  send(seconds?: number): Promise<void>;
  /** What has arrived since the order was created. */
  requests(): readonly ReceivedRequest[];
  /** Type, status and fault of each attempt of the delivery of an event, with those of the delivery. */
  attempts(eventType: string): Promise<unknown>;
};

/** A test endpoint that has received the creation of a test order. */
async function start(handler: ReceiverHandler = accept): Promise<World> {
  const receiver = await startReceiverForTest(handler);
  const endpoint = await storeEndpoint(test, partner, { url: receiver.url, mode: "test" });
  const dispatcher = startDispatcher(test);
  const { id: orderId } = await placeTestOrder(partner);
  await sendDue(dispatcher);
  const known = receiver.requests.length;
  return {
    receiver,
    endpoint,
    endpointId: toTypeId("whe", endpoint.id),
    dispatcher,
    orderId,
    send: async (seconds = 0) => {
      test.clock.advance({ ms: seconds * SECOND_MS });
      await sendDue(dispatcher);
    },
    requests: () => receiver.requests.slice(known),
    attempts: async (eventType) => {
      const { body } = await partner.client.get(`/v1/deliveries?orderId=${orderId}&eventType=${eventType}`);
      const [delivery] = body.data;
      return {
        status: delivery.status,
        fault: delivery.fault,
        attempts: delivery.attempts.map(
          (attempt: { fault: string; responseStatus: number; error: string }) => [
            attempt.fault,
            attempt.responseStatus,
            attempt.error,
          ],
        ),
      };
    },
  };
}

const bodyOf = ({
  body,
}: ReceivedRequest): { id: string; type: string; sequence: number } & Record<string, unknown> =>
  JSON.parse(body);
const typesOf = (requests: readonly ReceivedRequest[]): string[] =>
  requests.map((request) => bodyOf(request).type);

/** Whether a request has exactly the signatures that these secrets make. */
function isSignedBy({ headers, body }: ReceivedRequest, secrets: readonly string[]): boolean {
  const [id, timestamp] = [String(headers["webhook-id"]), Number(headers["webhook-timestamp"])];
  const signed = secrets.map((secret) => new Webhook(secret).sign(id, new Date(timestamp * SECOND_MS), body));
  return headers["webhook-signature"] === signed.join(" ");
}
const secondsOf = ({ headers }: ReceivedRequest): number => Number(headers["webhook-timestamp"]);

describe("a receiver gets", () => {
  it("a wrong signature before the right one, even if it accepts it", async () => {
    const world = await start();
    await armed(world.orderId, "wrong-signature");
    await applied(partner, world.orderId, "hold");
    await world.send();
    await world.send(1);
    const [wrong, right] = world.requests();
    expect(world.requests()).toHaveLength(2);
    expect(wrong?.body).toBe(right?.body);
    expect(wrong?.headers["webhook-id"]).toBe(right?.headers["webhook-id"]);
    expect(wrong && isSignedBy(wrong, [world.endpoint.secret])).toBe(false);
    expect(right && isSignedBy(right, [world.endpoint.secret])).toBe(true);
    expect(await world.attempts("order.onHold")).toEqual({
      status: "succeeded",
      fault: "wrong-signature",
      attempts: [
        ["wrong-signature", 200, null],
        [null, 200, null],
      ],
    });
  });

  it("a rightly signed request that is an hour old, and then one of now", async () => {
    const world = await start();
    await armed(world.orderId, "stale-timestamp");
    await applied(partner, world.orderId, "hold");
    await world.send();
    await world.send(1);
    const [stale, fresh] = world.requests();
    expect(stale && isSignedBy(stale, [world.endpoint.secret])).toBe(true);
    expect(fresh && stale && secondsOf(fresh) - secondsOf(stale)).toBe(3_601);
    expect(world.requests()).toHaveLength(2);
  });

  it("an event twice, as soon as it has accepted it", async () => {
    const world = await start();
    await armed(world.orderId, "duplicate");
    await applied(partner, world.orderId, "hold");
    await world.send();
    await world.send();
    const [first, second] = world.requests();
    expect(world.requests()).toHaveLength(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(second?.body).toBe(first?.body);
    expect(await world.attempts("order.onHold")).toMatchObject({
      status: "succeeded",
      attempts: [
        ["duplicate", 200, null],
        ["duplicate", 200, null],
      ],
    });
  });

  it("nothing until the attempt after those that are dropped", async () => {
    const world = await start();
    await armed(world.orderId, "dropped", { attempts: 2 });
    await applied(partner, world.orderId, "hold");
    await world.send();
    await world.send(1);
    expect(world.requests()).toEqual([]);
    await world.send(1);
    expect(typesOf(world.requests())).toEqual(["order.onHold"]);
    const dropped = ["dropped", null, "dropped by a rehearsed fault"];
    expect(await world.attempts("order.onHold")).toEqual({
      status: "succeeded",
      fault: "dropped",
      attempts: [dropped, dropped, [null, 200, null]],
    });
  });
});

describe("a receiver gets also", () => {
  it("the signature of the previous secret alone", async () => {
    const world = await start();
    const path = endpointPath(world.endpointId, "rotate-secret");
    const { secret } = (await partner.client.post(path, { overlapHours: 1 })).body;
    await armed(world.orderId, "previous-secret");
    for (const name of ["hold", "releaseHold"]) await applied(partner, world.orderId, name);
    await world.send();
    const [previous, both] = world.requests();
    expect(previous && isSignedBy(previous, [world.endpoint.secret])).toBe(true);
    expect(both && isSignedBy(both, [secret, world.endpoint.secret])).toBe(true);
  });

  it("another event of an unknown type, with an id of its own, before the event", async () => {
    const world = await start();
    await armed(world.orderId, "unknown-type");
    await applied(partner, world.orderId, "hold");
    await world.send();
    await world.send(1);
    const [unknown, event] = world.requests();
    expect(typesOf(world.requests())).toEqual(["order.rehearsedUnknownType", "order.onHold"]);
    expect(unknown?.headers["webhook-id"]).not.toBe(event?.headers["webhook-id"]);
    for (const request of world.requests()) {
      expect(bodyOf(request).id).toBe(request.headers["webhook-id"]);
      expect(isSignedBy(request, [world.endpoint.secret])).toBe(true);
    }
  });

  it("a field that is not described, and a body of 1 MiB, with the event", async () => {
    const world = await start();
    for (const fault of ["unknown-field", "largest-body"]) await armed(world.orderId, fault);
    for (const name of ["hold", "releaseHold"]) await applied(partner, world.orderId, name);
    await world.send();
    const [field, large] = world.requests();
    expect(field && bodyOf(field)).toMatchObject({ type: "order.onHold", fieldOfTomorrow: [{}] });
    expect(Buffer.byteLength(large?.body ?? "")).toBe(1_048_576);
    expect(large && bodyOf(large)).toMatchObject({ type: "order.onHoldReleased", sequence: 3 });
    for (const request of world.requests()) expect(isSignedBy(request, [world.endpoint.secret])).toBe(true);
  });

  it("a body that breaks off in its middle, and then the whole one", async () => {
    const world = await start();
    const raw = await startRawReceiver(() => undefined);
    onTestFinished(() => raw.close());
    await partner.client.request("PATCH", endpointPath(world.endpointId), { body: { url: raw.url } });
    await armed(world.orderId, "cut-body");
    await applied(partner, world.orderId, "hold");
    await world.send();
    const [head = "", half = ""] = raw.received().split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(half).toHaveLength(Math.ceil(length / 2));
    expect(head).not.toContain("chunked");
    await partner.client.request("PATCH", endpointPath(world.endpointId), {
      body: { url: world.receiver.url },
    });
    await world.send(1);
    expect(typesOf(world.requests())).toEqual(["order.onHold"]);
    expect(Buffer.byteLength(world.requests()[0]?.body ?? "")).toBe(length);
    expect(await world.attempts("order.onHold")).toMatchObject({
      attempts: [
        ["cut-body", null, "cut off by a rehearsed fault"],
        [null, 200, null],
      ],
    });
  });

  it("an event twice at the same time, and fails the attempt if one of both fails", async () => {
    const waiting: (() => void)[] = [];
    let status = 503;
    const world = await start((request, response) => {
      if (bodyOf(request).type === "order.created") return accept(request, response);
      waiting.push(() => {
        response.writeHead(status).end();
        status = 200;
      });
      if (waiting.length === 2) for (const respond of waiting) respond(); // Neither ends before both have begun.
      if (waiting.length > 2) response.end();
    });
    await armed(world.orderId, "two-at-once");
    await applied(partner, world.orderId, "hold");
    await world.send();
    expect(world.requests()).toHaveLength(2);
    await world.send(6);
    expect(await world.attempts("order.onHold")).toMatchObject({
      status: "succeeded",
      attempts: [
        ["two-at-once", 503, "HTTP 503"],
        [null, 200, null],
      ],
    });
  });

  it("an event late, and those after it later", async () => {
    const world = await start();
    await armed(world.orderId, "delayed", { seconds: 20 });
    for (const name of ["hold", "releaseHold"]) await applied(partner, world.orderId, name);
    await world.send();
    const { body } = await test.backOffice.get(
      `/api/connections/${partner.connectionId}/deliveries?status=pending`,
    );
    const until = new Date(test.clock.now().getTime() + 20 * SECOND_MS).toISOString();
    expect(body.data.map(({ wait }: { wait: object }) => wait)).toMatchObject([
      { reason: "earlier_event" },
      { reason: "fault", until, error: null },
    ]);
    await world.send(19);
    expect(world.requests()).toEqual([]);
    await world.send(1);
    expect(typesOf(world.requests())).toEqual(["order.onHold", "order.onHoldReleased"]);
    expect(await world.attempts("order.onHold")).toMatchObject({ attempts: [["delayed", 200, null]] });
  });

  it("a newer event before an older one", async () => {
    const world = await start();
    await armed(world.orderId, "reordered");
    await applied(partner, world.orderId, "hold");
    await world.send();
    expect(world.requests()).toEqual([]);
    for (const name of ["releaseHold", "ship"]) await applied(partner, world.orderId, name);
    await world.send();
    expect(typesOf(world.requests())).toEqual([
      "order.onHoldReleased",
      "order.onHold",
      "order.shipmentCreated",
    ]);
    expect(world.requests().map((request) => bodyOf(request).sequence)).toEqual([3, 2, 4]);
  });

  it("an event that waits for a newer one after a minute, if there is none", async () => {
    const world = await start();
    await armed(world.orderId, "reordered");
    await applied(partner, world.orderId, "hold");
    await world.send(59);
    expect(world.requests()).toEqual([]);
    await world.send(1);
    await applied(partner, world.orderId, "releaseHold");
    await world.send();
    expect(typesOf(world.requests())).toEqual(["order.onHold", "order.onHoldReleased"]);
  });

  it("a burst of the events of an outage, of several orders", async () => {
    const world = await start();
    const other = await placeTestOrder(partner);
    await world.send();
    for (const id of [world.orderId, other.id]) await armed(id, "outage", { seconds: 30 });
    test.clock.advance({ ms: 10 * SECOND_MS });
    for (const id of [world.orderId, other.id])
      for (const name of ["hold", "releaseHold"]) await applied(partner, id, name);
    await world.send(19);
    expect(typesOf(world.requests())).toEqual(["order.created"]);
    await world.send(1);
    expect(typesOf(world.requests()).sort()).toEqual([
      "order.created",
      ...Array(2).fill("order.onHold"),
      ...Array(2).fill("order.onHoldReleased"),
    ]);
    await applied(partner, other.id, "hold");
    await world.send();
    expect(world.requests()).toHaveLength(6);
  });
});

describe("a fault", () => {
  it("is armed for the next event alone, of its type if it names one, and each fault for an event of its own", async () => {
    const { orderId, endpointId } = await start();
    const later = await armed(orderId, "duplicate", { eventType: "order.shipmentCreated", endpointId });
    const first = await armed(orderId, "unknown-field");
    const second = await armed(orderId, "delayed", { attempts: 3 });
    expect(await faultsOf(orderId)).toEqual([later, first, second]);
    expect(later).toMatchObject({ endpointId, eventType: "order.shipmentCreated", eventId: null });
    expect(second).toMatchObject({ endpointId: null, seconds: 10, attempts: null, endsAt: null });
    for (const name of ["hold", "releaseHold", "ship"]) await applied(partner, orderId, name);
    const { data } = (await partner.client.get(`/v1/events?orderId=${orderId}`)).body;
    const eventIds = Object.fromEntries(data.map(({ type, id }: { type: string; id: string }) => [type, id]));
    expect((await faultsOf(orderId)).map(({ eventId }: { eventId: string }) => eventId)).toEqual([
      eventIds["order.shipmentCreated"],
      eventIds["order.onHold"],
      eventIds["order.onHoldReleased"],
    ]);
    const deliveries = (await partner.client.get(`/v1/deliveries?orderId=${orderId}`)).body.data;
    expect(deliveries.map(({ fault }: { fault: string }) => fault)).toEqual([
      "duplicate",
      "delayed",
      "unknown-field",
      null,
    ]);
  });

  it("is for test endpoints: a live one gets the event as usual, and so does every real order", async () => {
    const { orderId, endpointId, dispatcher } = await start();
    const live = await startReceiverForTest();
    const liveEndpoint = await createEndpoint(partner, { url: live.url });
    await armed(orderId, "wrong-signature");
    await applied(partner, orderId, "hold");
    const real = await placeOrder(partner);
    await partner.client.post(`/v1/orders/${real.id}/cancel`);
    await sendDue(dispatcher);
    expect(live.requests.every((request) => isSignedBy(request, [liveEndpoint.secret]))).toBe(true);
    expect(typesOf(live.requests).sort()).toEqual(["order.canceled", "order.created", "order.onHold"]);
    const deliveries = (await partner.client.get("/v1/deliveries")).body.data;
    const faulty = deliveries.filter(({ fault }: { fault: string | null }) => fault !== null);
    expect(faulty).toMatchObject([{ endpointId, orderId, fault: "wrong-signature" }]);
  });

  it("is rejected for a real order, a foreign one and an erased one, like a missing one", async () => {
    const { orderId } = await start();
    const real = await placeOrder(partner);
    const stranger = await createPartner(test);
    await createEndpoint(stranger, { mode: "test" });
    for (const [id, as] of [
      [real.id, partner],
      [orderId, stranger],
      ["unknown", partner],
    ] as const) {
      expectProblem(await arm(id, "duplicate", {}, as), 404, "not-found");
      expectProblem(await as.client.get(faultsPath(id)), 404, "not-found");
    }
    const others = await countRows(test, "delivery_faults");
    await armed(orderId, "duplicate");
    await partner.client.post(`/v1/test-orders/${orderId}/erase`);
    expectProblem(await arm(orderId, "duplicate"), 404, "not-found");
    await runJob(test, "erase-test-orders");
    expect(await countRows(test, "delivery_faults")).toBe(others);
  });

  it("is rejected without a test endpoint that can have it", async () => {
    const { orderId, endpointId } = await start();
    const live = await createEndpoint(partner);
    const foreign = await createEndpoint(await createPartner(test), { mode: "test" });
    const rejected = async (fields: object, errors: object[]) =>
      expectRejected(await arm(orderId, "duplicate", fields), errors);
    const missing = { pointer: "/endpointId", rule: "not_found", kind: "webhook_endpoint" };
    await rejected({ endpointId: "nonsense" }, [missing]);
    await rejected({ endpointId: foreign.id }, [missing]);
    await rejected({ endpointId: live.id }, [{ pointer: "/endpointId", rule: "test_endpoint" }]);
    const unwanted = [{ pointer: "/eventType", rule: "receiving_endpoint" }];
    expectRejected(await arm(orderId, "duplicate", { eventType: "order.linesCanceled" }), unwanted);
    expectRejected(await arm(orderId, "duplicate", { eventType: "order.accepted", endpointId }), unwanted);
    const deaf = await createEndpoint(partner, { mode: "test", eventTypes: ["order.created"] });
    await rejected({ endpointId: deaf.id }, [{ pointer: "/endpointId", rule: "receiving_endpoint" }]);
    await partner.client.request("DELETE", endpointPath(deaf.id));
    const previous = [{ pointer: "/fault", rule: "previous_secret" }];
    expectRejected(await arm(orderId, "previous-secret"), previous);
    expectRejected(await arm(orderId, "previous-secret", { endpointId }), previous);
    await pauseEndpoint(test, endpointId);
    expectProblem(await arm(orderId, "duplicate", { endpointId }), 409, "endpoint-paused");
    await partner.client.request("DELETE", endpointPath(endpointId));
    await rejected({ endpointId }, [missing]);
    await rejected({}, [{ pointer: "/endpointId", rule: "test_endpoint" }]);
  });

  it("has bounds", async () => {
    const { orderId } = await start();
    const rejected = async (fields: object, errors: object[]) =>
      expectRejected(await arm(orderId, "dropped", fields), errors);
    await rejected({ fault: "fire" }, [{ pointer: "/fault", rule: "one_of" }]);
    await rejected({ attempts: 0 }, [{ pointer: "/attempts", rule: "minimum" }]);
    await rejected({ attempts: 6 }, [{ pointer: "/attempts", rule: "maximum" }]);
    await rejected({ seconds: 601 }, [{ pointer: "/seconds", rule: "maximum" }]);
    for (const eventType of ["order.created", "product.published"])
      await rejected({ eventType }, [{ pointer: "/eventType", rule: "one_of" }]);
    const answers = await Promise.all(Array.from({ length: 52 }, () => arm(orderId, "duplicate")));
    const reached = answers.filter(({ status }) => status !== 201);
    expect(reached).toHaveLength(2);
    for (const answer of reached)
      expectProblem(answer, 409, "limit-reached", { limit: "deliveryFaults", maximum: 50 });
  });
});

describe("a fault that a person arms in the back office", () => {
  const path = (orderId: string) => testOrdersPath(partner, `/${orderId}/delivery-faults`);

  it("is that of the partner, with an entry in the audit log", async () => {
    const { endpointId, orderId } = await start();
    const request = { fault: "outage", endpointId, seconds: 5 };
    const { status, body: fault } = await test.backOffice.post(path(orderId), request);
    expect(status).toBe(201);
    expect(fault).toMatchObject({ fault: "outage", endpointId, seconds: 5, eventId: null });
    const { body: list } = await test.backOffice.get(path(orderId));
    expect([list.data, await faultsOf(orderId)]).toEqual([[fault], [fault]]);
    const { body: audit } = await test.backOffice.get(
      `/api/audit-entries?subjectId=${orderId}&action=armDeliveryFault`,
    );
    expect(audit.data).toMatchObject([{ details: { fault: "outage" }, connectionId: partner.connectionId }]);
  });

  it("is rejected as with a key: a real order, one of another connection, and an endpoint that cannot have it", async () => {
    const { orderId } = await start();
    const { id: real } = await placeOrder(partner);
    const { id: foreign } = await placeTestOrder(await createPartner(test));
    for (const id of [real, foreign]) {
      expectProblem(await test.backOffice.post(path(id), { fault: "duplicate" }), 404, "not-found");
      expectProblem(await test.backOffice.get(path(id)), 404, "not-found");
    }
    expectRejected(await test.backOffice.post(path(orderId), { fault: "previous-secret" }), [
      { pointer: "/fault", rule: "previous_secret" },
    ]);
    expect((await test.backOffice.get(path(orderId))).body.data).toEqual([]);
  });
});

describe("a rehearsed attempt", () => {
  it("does not count for the health of the endpoint, and does not pause it", async () => {
    let status = 410;
    const world = await start((request, response) =>
      bodyOf(request).type === "order.created"
        ? accept(request, response)
        : answering(status)(request, response),
    );
    await armed(world.orderId, "wrong-signature");
    await applied(partner, world.orderId, "hold");
    await world.send();
    status = 200;
    const { body } = await partner.client.get(endpointPath(world.endpointId));
    expect(body).toMatchObject({ status: "active", consecutiveFailures: 0 });
    await world.send(1);
    expect(await world.attempts("order.onHold")).toMatchObject({ status: "succeeded" });
  });

  it("is shown with the request that was sent", async () => {
    const world = await start();
    const faults = ["wrong-signature", "stale-timestamp", "unknown-type", "unknown-field"];
    for (const fault of faults) await armed(world.orderId, fault);
    for (const name of ["hold", "releaseHold", "hold", "releaseHold"])
      await applied(partner, world.orderId, name);
    for (let second = 0; second < 4; second += 1) await world.send(1);
    const { data } = (await partner.client.get(`/v1/deliveries?orderId=${world.orderId}`)).body;
    const shown = [];
    for (const { id } of data.toReversed().slice(1))
      for (const { request } of (await partner.client.get(`/v1/deliveries/${id}`)).body.attempts)
        shown.push(request);
    const sent = world.requests().map(({ headers, body }) => ({ headers, body }));
    expect(shown).toHaveLength(7);
    expect(sent).toMatchObject(shown);
  });

  it("is not repeated by a redelivery or a recovery, which send the event as it is", async () => {
    let status = 500;
    const world = await start((request, response) =>
      bodyOf(request).type === "order.created"
        ? accept(request, response)
        : answering(status)(request, response),
    );
    const since = test.clock.now().toISOString();
    await armed(world.orderId, "wrong-signature");
    await applied(partner, world.orderId, "hold");
    const { data } = (await partner.client.get(`/v1/deliveries?orderId=${world.orderId}&status=pending`))
      .body;
    await partner.client.post(`/v1/deliveries/${data[0].id}/redeliver`);
    await world.send();
    for (const seconds of [1, 36, 144, 720, 2_160]) await world.send(seconds);
    const trials = world.requests().map((request) => isSignedBy(request, [world.endpoint.secret]));
    expect(trials.filter((isRight) => !isRight)).toHaveLength(1);
    expect(trials).toHaveLength(7); // Six of the schedule of a test order, and the redelivery.
    expect(await world.attempts("order.onHold")).toMatchObject({ status: "failed" });
    status = 200;
    await partner.client.post(endpointPath(world.endpointId, "recover"), { since });
    await runJob(test, "resend-deliveries");
    await world.send();
    expect(
      world
        .requests()
        .slice(7)
        .map((request) => isSignedBy(request, [world.endpoint.secret])),
    ).toEqual([true]);
    expect(await world.attempts("order.onHold")).toMatchObject({ status: "succeeded", fault: null });
  });
});

describe("a client of a pull endpoint", () => {
  type Leased = {
    deliveryId: string;
    attempt: number;
    eventType: string;
    fault: string | null;
    headers: ReceivedRequest["headers"];
    body: string;
  };

  async function startPull() {
    const endpoint = await createEndpoint(partner, { kind: "pull", mode: "test", url: undefined });
    const lease = async (): Promise<Leased[]> =>
      (await partner.client.get(endpointPath(endpoint.id, "deliveries"))).body.data;
    const acknowledge = (leased: readonly Leased[], status = 200) =>
      partner.client.post(endpointPath(endpoint.id, "acknowledgements"), {
        acknowledgements: leased.map(({ deliveryId, attempt }) => ({ deliveryId, attempt, status })),
      });
    const { id: orderId } = await placeTestOrder(partner);
    await acknowledge(await lease());
    return { endpoint, lease, acknowledge, orderId };
  }
  const shown = (leased: readonly Leased[]) =>
    leased.map(({ eventType, attempt, fault }) => [eventType, attempt, fault]);

  it("gets the request as the fault makes it, and the event after its acknowledgement", async () => {
    const { endpoint, lease, acknowledge, orderId } = await startPull();
    await armed(orderId, "wrong-signature");
    await applied(partner, orderId, "hold");
    const wrong = await lease();
    expect(shown(wrong)).toEqual([["order.onHold", 1, "wrong-signature"]]);
    await acknowledge(wrong, 410);
    expect(await lease()).toEqual([]);
    test.clock.advance({ ms: SECOND_MS });
    const right = await lease();
    expect(shown(right)).toEqual([["order.onHold", 2, null]]);
    const isRight = [wrong, right].map(
      ([leased]) => leased && isSignedBy({ ...leased, method: "POST", path: "/" }, [endpoint.secret]),
    );
    expect(isRight).toEqual([false, true]);
    await acknowledge(right);
    const { body } = await partner.client.get(`/v1/deliveries/${right[0]?.deliveryId}`);
    expect(body).toMatchObject({
      status: "succeeded",
      attempts: [{ fault: "wrong-signature", responseStatus: 410 }, { fault: null }],
    });
    expect((await partner.client.get(endpointPath(endpoint.id))).body.status).toBe("active");
  });

  it("waits for what is dropped, delayed and reordered, and is told what it has to do itself", async () => {
    const { lease, acknowledge, orderId } = await startPull();
    for (const fault of ["dropped", "reordered", "cut-body", "two-at-once"]) await armed(orderId, fault);
    await applied(partner, orderId, "hold");
    expect(await lease()).toEqual([]);
    test.clock.advance({ ms: SECOND_MS });
    const dropped = await lease();
    expect(shown(dropped)).toEqual([["order.onHold", 2, null]]);
    await acknowledge(dropped);
    await applied(partner, orderId, "releaseHold");
    expect(await lease()).toEqual([]);
    for (const name of ["ship", "complete"]) await applied(partner, orderId, name);
    const arrived: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      const leased = await lease();
      arrived.push(...shown(leased));
      await acknowledge(leased, round === 0 ? 500 : 200);
      test.clock.advance({ ms: SECOND_MS });
    }
    expect(arrived).toEqual([
      ["order.shipmentCreated", 1, "cut-body"],
      ["order.shipmentCreated", 2, null],
      ["order.onHoldReleased", 1, "reordered"],
      ["order.completed", 1, "two-at-once"],
    ]);
  });

  it("gets one body of 1 MiB at a time", async () => {
    const { lease, acknowledge, orderId } = await startPull();
    const other = await placeTestOrder(partner);
    await acknowledge(await lease());
    for (const id of [orderId, other.id]) {
      await armed(id, "largest-body");
      await applied(partner, id, "hold");
    }
    for (let round = 0; round < 2; round += 1) {
      const leased = await lease();
      expect(leased.map(({ body }) => Buffer.byteLength(body))).toEqual([1_048_576]);
      await acknowledge(leased);
    }
    expect(await lease()).toEqual([]);
  });

  it("that does not come back leaves the rehearsed attempt, and the event follows", async () => {
    const { lease, orderId } = await startPull();
    await armed(orderId, "stale-timestamp");
    await applied(partner, orderId, "hold");
    expect(shown(await lease())).toEqual([["order.onHold", 1, "stale-timestamp"]]);
    test.clock.advance({ ms: 60 * SECOND_MS });
    await runJob(test, "end-pull-leases");
    test.clock.advance({ ms: SECOND_MS });
    expect(shown(await lease())).toEqual([["order.onHold", 2, null]]);
  });
});

describe("a newer event that is published while a worker has claimed the older one that waits for it", () => {
  it("is sent first all the same", async () => {
    const world = await start();
    await armed(world.orderId, "reordered");
    await applied(partner, world.orderId, "hold");
    const now = test.clock.now();
    const leasedUntil = new Date(now.getTime() + 60 * SECOND_MS);
    const { merchantId, connectionId, id: endpointId } = world.endpoint;
    const ids = { scheduled: test.context.newId(), manual: test.context.newId() };
    const sizes = [{ merchantId, connectionId, endpointId, size: 1 }];
    const [delivery] = await claimDeliveries(test.db, ids, { now, leasedUntil }, sizes);
    if (delivery === undefined) throw new Error("Nothing was claimed.");
    const until = heldUntil(delivery, now);
    expect(until).toEqual(leasedUntil);
    await applied(partner, world.orderId, "releaseHold");
    const held = { delivery, attempt: null, outcome: { is: "held" as const, at: until ?? now } };
    const woken = await completeDeliveries(test.context, test.context.newId(), [
      { completion: held, health: null, wasPaused: false },
    ]);
    expect(woken).toEqual([{ merchantId, connectionId }]);
    await world.send();
    expect(typesOf(world.requests())).toEqual(["order.onHoldReleased", "order.onHold"]);
  });
});

describe("a worker that ends", () => {
  it("between a delivery and its duplicate leaves the duplicate to another worker", async () => {
    const world = await start();
    await armed(world.orderId, "duplicate");
    await applied(partner, world.orderId, "hold");
    await loseWorker(test, world.endpoint.id); // It has sent the first one.
    await world.send(61);
    expect(world.requests()).toHaveLength(1);
    expect(await world.attempts("order.onHold")).toMatchObject({
      status: "succeeded",
      attempts: [
        [null, null, expect.stringContaining("outcome unknown")],
        ["duplicate", 200, null],
      ],
    });
  });

  it("after a rehearsed attempt, before it is stored, leaves the event to the next attempt", async () => {
    const world = await start();
    await armed(world.orderId, "wrong-signature");
    await applied(partner, world.orderId, "hold");
    await loseWorker(test, world.endpoint.id);
    await world.send(61);
    expect(world.requests().map((request) => isSignedBy(request, [world.endpoint.secret]))).toEqual([true]);
    expect(await world.attempts("order.onHold")).toMatchObject({
      status: "succeeded",
      attempts: [
        [null, null, expect.stringContaining("outcome unknown")],
        [null, 200, null],
      ],
    });
  });
});
