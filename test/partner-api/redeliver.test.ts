import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { connectionUuid, expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  attempt,
  createEndpoint,
  deliver,
  endpointPath,
  pauseEndpoint,
  readRows,
  uuidIn,
} from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let endpointId: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());
afterEach(() => vi.restoreAllMocks());

type Options = Parameters<typeof deliver>[3];

/** A delivery of a new order's creation, to an endpoint of its own. */
async function aDelivery(options?: Options, place = placeOrder): Promise<string> {
  endpointId = (await createEndpoint(partner)).id;
  const { id } = await place(partner);
  const events = await readEvents(test, partner.connectionId);
  return deliver(test, endpointId, events.find(({ data }) => data.order?.id === id).id, options);
}

const redeliver = (id: string) => partner.client.post(`/v1/deliveries/${id}/redeliver`);
const dueRows = () => readRows(test, "due_deliveries", endpointId);

/** The dispatcher is done with what is due. */
const finishDue = () =>
  test.db.query({
    name: "test-finish-due",
    text: "delete from due_deliveries where endpoint_id = $1",
    values: [uuidIn("whe", endpointId)],
  });

describe("POST /v1/deliveries/{deliveryId}/redeliver", () => {
  it.each(["succeeded", "failed"])("sends a delivery that %s once more, at once", async (status) => {
    const id = await aDelivery({ status });
    await attempt(test, partner, id);
    test.clock.advance({ hours: 3 });
    const woken: string[] = [];
    vi.spyOn(test.service, "wakeDispatchers").mockImplementation((ids) => void woken.push(...ids));
    const before = (await partner.client.get(`/v1/deliveries/${id}`)).body;
    const answer = await redeliver(id);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    expect(answer.body).toEqual({ ...before, nextAttemptAt: test.clock.now().toISOString() });
    expect(answer.body.attempts).toHaveLength(1);
    expect(await dueRows()).toEqual([
      expect.objectContaining({
        lane_id: uuidIn("dlv", id),
        delivery_id: uuidIn("dlv", id),
        event_id: uuidIn("evt", before.eventId),
        cause: "manual",
        tries: 0,
        due_at: test.clock.now(),
        claim_id: null,
        not_after: null,
      }),
    ]);
    expect(woken).toEqual([connectionUuid(partner)]);
  });

  it("overtakes what the schedule plans, which stays as it is", async () => {
    const dueAt = new Date(test.clock.now().getTime() + 3_600_000);
    const id = await aDelivery({ due: { dueAt } });
    expect((await redeliver(id)).body.nextAttemptAt).toBe(test.clock.now().toISOString());
    expect((await dueRows()).map(({ cause, due_at }) => [cause, due_at])).toEqual(
      expect.arrayContaining([
        ["schedule", dueAt],
        ["manual", test.clock.now()],
      ]),
    );
  });

  it("is one sending, however often it is asked for before that is done", async () => {
    const id = await aDelivery({ status: "failed" });
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeliver(id)));
    for (const { status } of answers) expect(status).toBe(202);
    expect(await dueRows()).toHaveLength(1);
  });

  it("may be asked for again and again, each time the one before is done", async () => {
    const id = await aDelivery({ status: "succeeded" });
    for (let count = 0; count < 3; count += 1) {
      expect((await redeliver(id)).status).toBe(202);
      expect(await dueRows()).toHaveLength(1);
      await finishDue();
    }
  });

  it("never sends about a test order beyond its erasure", async () => {
    const id = await aDelivery({ status: "failed" }, placeTestOrder);
    const erasedAt = new Date(test.clock.now().getTime() + 7_200_000);
    expect((await redeliver(id)).status).toBe(202);
    expect((await dueRows())[0]).toMatchObject({ not_after: erasedAt });
    await finishDue();
    test.clock.advance({ hours: 2 });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("sends a ping once more", async () => {
    endpointId = (await createEndpoint(partner)).id;
    const { body } = await partner.client.post(endpointPath(endpointId, "ping"));
    await finishDue();
    expect((await redeliver(body.id)).status).toBe(202);
    expect(await dueRows()).toHaveLength(1);
  });

  it("is refused while the endpoint is paused, and stores nothing", async () => {
    const id = await aDelivery({ status: "failed" });
    await pauseEndpoint(test, endpointId);
    const before = await dumpTables(test);
    expectProblem(await redeliver(id), 409, "endpoint-paused");
    expect(await dumpTables(test)).toEqual(before);
    await partner.client.post(endpointPath(endpointId, "resume"));
    expect((await redeliver(id)).status).toBe(202);
  });

  it("is 404 once the endpoint is deleted, while the log still shows the delivery", async () => {
    const id = await aDelivery({ status: "succeeded" });
    await partner.client.request("DELETE", endpointPath(endpointId));
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
    expect((await partner.client.get(`/v1/deliveries/${id}`)).body.status).toBe("succeeded");
  });

  it("is 404 once the event is no longer kept", async () => {
    const id = await aDelivery({ status: "failed" });
    test.clock.advance({ hours: 30 * 24 });
    expect((await redeliver(id)).status).toBe(202);
    await finishDue();
    test.clock.advance({ ms: 1 });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("is 404 when the event is gone", async () => {
    const id = await aDelivery({ status: "failed" });
    const { eventId } = (await partner.client.get(`/v1/deliveries/${id}`)).body;
    await test.db.query({
      name: "test-delete-event",
      text: "delete from events where id = $1",
      values: [uuidIn("evt", eventId)],
    });
    expectProblem(await redeliver(id), 404, "not-found");
    expect(await dueRows()).toEqual([]);
  });

  it("leaves nothing due when the endpoint is deleted at the same time", async () => {
    const id = await aDelivery({ status: "failed" });
    await Promise.all([
      ...Array.from({ length: 5 }, () => redeliver(id)),
      partner.client.request("DELETE", endpointPath(endpointId)),
      ...Array.from({ length: 5 }, () => redeliver(id)),
    ]);
    expect(await dueRows()).toEqual([]);
  });
});
