import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { sendDue, startDispatcher } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionUuid, expectProblem } from "../support/orders.ts";
import { type Receiver, startReceiver } from "../support/receivers.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  createEndpoint,
  deliveryOf,
  endpointPath,
  pauseEndpoint,
  readRows,
  uuidIn,
} from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let receiver: Receiver;
let answer: (response: ServerResponse) => void;
let endpointId: string;
beforeAll(async () => {
  // A schedule without a second try: what fails is given up.
  test = await startTestService({
    config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [], webhookTestRetryMs: [3_600_000] },
  });
  partner = await createPartner(test);
  receiver = await startReceiver((_, response) => answer(response));
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});
afterEach(() => vi.restoreAllMocks());

const accept = (response: ServerResponse) => void response.end();
const reject = (response: ServerResponse) => void response.writeHead(500).end();
const send = () => sendDue(startDispatcher(test));

/** The delivery of a new order's creation, to an endpoint of its own. */
async function aDelivery(place = placeOrder): Promise<string> {
  endpointId = (await createEndpoint(partner, { url: receiver.url })).id;
  return deliveryOf(partner, endpointId, (await place(partner)).id);
}

/** The same after it was sent, with the status that it has then. */
async function aSentDelivery(status: "succeeded" | "failed"): Promise<string> {
  const id = await aDelivery();
  answer = status === "succeeded" ? accept : reject;
  await send();
  expect((await read(id)).status).toBe(status);
  return id;
}

const read = async (id: string) => (await partner.client.get(`/v1/deliveries/${id}`)).body;
const redeliver = (id: string) => partner.client.post(`/v1/deliveries/${id}/redeliver`);
const dueRows = () => readRows(test, "due_deliveries", endpointId);

describe("POST /v1/deliveries/{deliveryId}/redeliver", () => {
  it.each(["succeeded", "failed"] as const)("sends a delivery that %s once more, at once", async (status) => {
    const id = await aSentDelivery(status);
    test.clock.advance({ hours: 3 });
    const woken: string[] = [];
    vi.spyOn(test.context.signals, "send").mockImplementation(
      (_signal, connections) => void woken.push(...[...connections].map(({ connectionId }) => connectionId)),
    );
    const before = await read(id);
    const asked = await redeliver(id);
    expect(asked.status, JSON.stringify(asked.body)).toBe(202);
    expect(asked.body).toEqual({ ...before, nextAttemptAt: test.clock.now().toISOString() });
    expect(asked.body.attempts).toHaveLength(1);
    expect(await dueRows()).toEqual([
      expect.objectContaining({
        stream_id: uuidIn("dlv", id),
        delivery_id: uuidIn("dlv", id),
        event_id: uuidIn("evt", before.eventId),
        trigger: "manual",
        attempt_count: 0,
        due_at: test.clock.now(),
        claim_id: null,
        not_after: null,
      }),
    ]);
    expect(woken).toEqual([connectionUuid(partner)]);
    answer = accept;
    await send();
    const after = await read(id);
    expect(after).toMatchObject({ status: "succeeded", nextAttemptAt: null });
    expect(after.attempts.map(({ trigger }: { trigger: string }) => trigger)).toEqual(["schedule", "manual"]);
  });

  it("changes nothing when it fails: a success stays, and no retry is scheduled", async () => {
    const id = await aSentDelivery("succeeded");
    await redeliver(id);
    answer = reject;
    await send();
    const after = await read(id);
    expect(after).toMatchObject({ status: "succeeded", nextAttemptAt: null });
    expect(after.attempts).toHaveLength(2);
    expect(await dueRows()).toEqual([]);
  });

  it("goes before the scheduled attempt, which stays until one of them succeeds", async () => {
    const id = await aDelivery(placeTestOrder);
    answer = reject;
    await send();
    const planned = await dueRows();
    expect((await redeliver(id)).body.nextAttemptAt).toBe(test.clock.now().toISOString());
    expect(await dueRows()).toEqual(
      expect.arrayContaining([
        ...planned,
        expect.objectContaining({ trigger: "manual", due_at: test.clock.now() }),
      ]),
    );
    await send();
    expect(await dueRows()).toEqual(planned);
    await redeliver(id);
    answer = accept;
    await send();
    expect(await dueRows()).toEqual([]);
    expect((await read(id)).status).toBe("succeeded");
  });

  it("causes one attempt, however often it is requested until then", async () => {
    const id = await aSentDelivery("failed");
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeliver(id)));
    for (const { status } of answers) expect(status).toBe(202);
    expect(await dueRows()).toHaveLength(1);
  });

  it("can be requested again after the previous one is done", async () => {
    const id = await aSentDelivery("succeeded");
    for (let count = 0; count < 3; count += 1) {
      expect((await redeliver(id)).status).toBe(202);
      expect(await dueRows()).toHaveLength(1);
      await send();
    }
  });

  it("never sends about a test order beyond its erasure", async () => {
    const id = await aDelivery(placeTestOrder);
    const erasedAt = new Date(test.clock.now().getTime() + 7_200_000);
    expect((await redeliver(id)).status).toBe(202);
    expect((await dueRows())[0]).toMatchObject({ not_after: erasedAt });
    await send();
    test.clock.advance({ hours: 2 });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("sends a ping once more", async () => {
    endpointId = (await createEndpoint(partner, { url: receiver.url })).id;
    answer = accept;
    const { body } = await partner.client.post(endpointPath(endpointId, "ping"));
    await send();
    expect((await redeliver(body.id)).status).toBe(202);
    expect(await dueRows()).toHaveLength(1);
  });

  it("is rejected while the endpoint is paused, and stores nothing", async () => {
    const id = await aSentDelivery("failed");
    await pauseEndpoint(test, endpointId);
    const before = await dumpTables(test);
    expectProblem(await redeliver(id), 409, "endpoint-paused");
    expect(await dumpTables(test)).toEqual(before);
    await partner.client.post(endpointPath(endpointId, "resume"));
    expect((await redeliver(id)).status).toBe(202);
  });

  it("is 404 once the endpoint is deleted, while the log still shows the delivery", async () => {
    const id = await aSentDelivery("succeeded");
    await partner.client.request("DELETE", endpointPath(endpointId));
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
    expect((await read(id)).status).toBe("succeeded");
  });

  it("is 404 after the retention of the event", async () => {
    const id = await aSentDelivery("failed");
    test.clock.advance({ hours: 30 * 24 });
    expect((await redeliver(id)).status).toBe(202);
    await send();
    test.clock.advance({ ms: 1 });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("is 404 when the event was deleted", async () => {
    const id = await aSentDelivery("failed");
    const { eventId } = await read(id);
    await test.db.query({
      name: "test-delete-event",
      text: "delete from events where id = $1",
      values: [uuidIn("evt", eventId)],
    });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("leaves nothing due when the endpoint is deleted at the same time", async () => {
    const id = await aSentDelivery("failed");
    await Promise.all([
      ...Array.from({ length: 5 }, () => redeliver(id)),
      partner.client.request("DELETE", endpointPath(endpointId)),
      ...Array.from({ length: 5 }, () => redeliver(id)),
    ]);
    await runJob(test, "clear-endpoints");
    expect(await dueRows()).toEqual([]);
  });
});
