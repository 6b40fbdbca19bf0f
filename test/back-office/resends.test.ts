import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { resendNextBatch } from "../../src/webhooks/resend/resend-deliveries.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { ONE_TRY, sendFor } from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey, expectErrors, expectProblem, withoutItsOwn } from "../support/orders.ts";
import type { Receiver, ReceiverHandler } from "../support/receivers.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService({ config: ONE_TRY });
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const path = (rest = "") => `/api/connections/${partner.connectionId}/resends${rest}`;
const request = (body: object): Promise<Answer> => test.backOffice.post(path(), body);
const run = () => runJob(test, "resend-deliveries");
const now = () => test.clock.now().toISOString();

async function requested(body: object) {
  const { status, body: resend } = await request(body);
  expect(status, JSON.stringify(resend)).toBe(202);
  return resend;
}
const read = async (id: string) => (await test.backOffice.get(path(`/${id}`))).body;
async function deliveries(query = ""): Promise<{ id: string; status: string; orderId: string }[]> {
  return (await partner.client.get(`/v1/deliveries${query}`)).body.data;
}

/** An endpoint, and orders whose creation was sent to it. */
async function aLog(
  orders: number,
  handler: ReceiverHandler,
): Promise<{ receiver: Receiver; endpointId: string; since: string }> {
  const receiver = await startReceiverForTest(handler);
  const { id: endpointId } = await createEndpoint(partner, { url: receiver.url });
  const since = now();
  for (let count = 0; count < orders; count += 1) await placeOrder(partner);
  test.clock.advance({ ms: 1_000 });
  await sendFor(test, partner);
  return { receiver, endpointId, since };
}

const answering =
  (answer: { status: number }): ReceiverHandler =>
  (_request, response) => {
    response.statusCode = answer.status;
    response.end();
  };

describe("POST /api/connections/{id}/resends", () => {
  it("sends what failed in a period once more, and counts what becomes of it", async () => {
    const answer = { status: 500 };
    const { receiver, endpointId, since } = await aLog(3, answering(answer));
    const { url } = await startReceiverForTest(answering({ status: 500 }));
    const other = await createEndpoint(partner, { url });
    const failed = await deliveries("?status=failed");
    expect(failed).toHaveLength(3);
    answer.status = 200;
    await placeOrder(partner);
    await sendFor(test, partner);
    const sent = receiver.requests.length;

    const resend = await requested({ since, endpointId });
    expect(resend).toMatchObject({
      status: "running",
      total: 3,
      since,
      until: now(),
      endpointId,
      eventType: null,
      deliveryStatus: "failed",
      readUntil: null,
      sendingCount: 0,
      finishedAt: null,
    });
    await run();
    expect(await read(resend.id)).toMatchObject({
      status: "running",
      sendingCount: 3,
      readUntil: resend.until,
    });
    await sendFor(test, partner);
    await run();
    const finished = await read(resend.id);
    expect(finished).toMatchObject({
      status: "finished",
      succeededCount: 3,
      failedCount: 0,
      skippedCount: 0,
    });
    expect(finished.finishedAt).toBe(now());
    expect(receiver.requests.length - sent).toBe(3);
    expect(await run()).toBe(0);
    expect(receiver.requests.length - sent).toBe(3);
    const [ofOther] = await deliveries(`?endpointId=${other.id}`);
    expect(ofOther).toMatchObject({ status: "failed", attemptCount: 1 });
    const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${resend.id}`);
    expect(body.data).toMatchObject([
      { action: "createResend", details: { endpointId, deliveryStatus: "failed" } },
    ]);
  });

  it("counts what fails again, and does not retry it", async () => {
    const { receiver, since } = await aLog(2, answering({ status: 500 }));
    const resend = await requested({ since });
    await run();
    await sendFor(test, partner);
    await run();
    expect(await read(resend.id)).toMatchObject({ status: "finished", succeededCount: 0, failedCount: 2 });
    expect(receiver.requests).toHaveLength(4);
  });

  it("sends chosen deliveries of any status, each once, though named twice", async () => {
    const { receiver } = await aLog(3, answering({ status: 200 }));
    const [one, two] = await deliveries();
    const sent = receiver.requests.length;
    const resend = await requested({ deliveryIds: [one?.id, two?.id, one?.id] });
    expect(resend).toMatchObject({
      total: 2,
      since: null,
      until: null,
      deliveryStatus: null,
      readUntil: null,
    });
    await run();
    await sendFor(test, partner);
    await run();
    expect(await read(resend.id)).toMatchObject({ status: "finished", succeededCount: 2 });
    expect(receiver.requests.length - sent).toBe(2);
  });

  it("filters by type and status", async () => {
    const { since } = await aLog(1, answering({ status: 200 }));
    expect(await requested({ since, eventType: "order.canceled", status: "succeeded" })).toMatchObject({
      total: 0,
    });
    expect(await requested({ since })).toMatchObject({ total: 0 });
    const all = await requested({ since, eventType: "order.created", status: "succeeded" });
    expect(all).toMatchObject({ total: 1, eventType: "order.created", deliveryStatus: "succeeded" });
  });

  it("says why deliveries are not sent", async () => {
    const { endpointId: paused } = await aLog(1, answering({ status: 200 }));
    const { endpointId: deleted } = await aLog(1, answering({ status: 200 }));
    await aLog(1, answering({ status: 200 }));
    const [limited] = await deliveries();
    const rehearsed = await placeTestOrder(partner);
    const erased = await deliveries(`?orderId=${rehearsed.id}`);
    await test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
      body: { limits: { redeliveriesPerDay: 1 } },
    });
    await partner.client.post(`/v1/deliveries/${limited?.id}/redeliver`);
    await sendFor(test, partner);
    await pauseEndpoint(test, paused);
    await partner.client.request("DELETE", endpointPath(deleted));
    const ofReal = async (endpointId: string) =>
      (await deliveries(`?endpointId=${endpointId}`)).find(({ orderId }) => orderId.startsWith("ord_"));
    const chosen = [await ofReal(paused), await ofReal(deleted), erased[0], limited].map(
      (delivery) => delivery?.id,
    );
    const resend = await requested({ deliveryIds: chosen });
    test.clock.advance({ ms: 7_200_000 });
    await runJob(test, "erase-test-orders");
    await run();
    expect(await read(resend.id)).toMatchObject({
      status: "finished",
      succeededCount: 0,
      skippedCount: 4,
      skipped: [
        { reason: "delivery_erased", count: 1 },
        { reason: "endpoint_deleted", count: 1 },
        { reason: "endpoint_paused", count: 1 },
        { reason: "limit_reached", count: 1 },
      ],
    });
  });

  it("makes each delivery due once, whatever number of workers process it", async () => {
    const { receiver, since } = await aLog(4, answering({ status: 200 }));
    const sent = receiver.requests.length;
    const resend = await requested({ since, status: "succeeded" });
    const key = connectionKey(partner);
    await Promise.all(Array.from({ length: 6 }, () => resendNextBatch(test.context, key)));
    await sendFor(test, partner);
    await Promise.all(Array.from({ length: 6 }, () => resendNextBatch(test.context, key)));
    expect(await read(resend.id)).toMatchObject({ status: "finished", succeededCount: 4 });
    expect(receiver.requests.length - sent).toBe(4);
  });

  it("waits while many of its deliveries are due, and continues at the same position", async () => {
    const { receiver, since } = await aLog(3, answering({ status: 200 }));
    const sent = receiver.requests.length;
    const resend = await requested({ since, status: "succeeded" });
    const uuids = Array.from({ length: 251 }, () => test.context.newId());
    // As if earlier batches had made these due. None of them is known: they count as erased.
    await test.db.query({
      name: "test-fill-sending",
      text: "update webhook_resends set sending = $1 where connection_id = $2 and finished_at is null",
      values: [uuids, connectionKey(partner).connectionId],
    });
    await resendNextBatch(test.context, connectionKey(partner));
    expect(await read(resend.id)).toMatchObject({ skippedCount: 251, sendingCount: 3 });
    expect(receiver.requests.length - sent).toBe(0);
    const before = await dumpTables(test);
    expect(await resendNextBatch(test.context, connectionKey(partner))).toBe(0);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("ends at ten open resends of a connection, also when they come at once", async () => {
    const { since } = await aLog(1, answering({ status: 200 }));
    const seven = () => Promise.all(Array.from({ length: 7 }, () => request({ since })));
    const answers = [...(await seven()), ...(await seven())];
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status !== 202))
      expectProblem(answer, 409, "limit-reached", { limit: "openResends", maximum: 10 });
    await run();
    expect((await request({ since })).status).toBe(202);
  });

  it("rejects what it cannot do, and stores nothing", async () => {
    const { since, endpointId } = await aLog(1, answering({ status: 200 }));
    const [delivery] = await deliveries();
    const other = await createPartner(test);
    const foreign = await createEndpoint(other);
    await placeOrder(other);
    const [theirs] = (await other.client.get("/v1/deliveries")).body.data;
    const later = new Date(test.clock.now().getTime() + 1).toISOString();
    const before = await dumpTables(test);
    const wrong: [body: object, pointer: string][] = [
      [{}, "/deliveryIds"],
      [{ since, deliveryIds: [delivery?.id] }, "/deliveryIds"],
      [{ deliveryIds: [] }, "/deliveryIds"],
      [{ deliveryIds: Array.from({ length: 101 }, () => delivery?.id) }, "/deliveryIds"],
      [{ deliveryIds: [delivery?.id, theirs.id] }, "/deliveryIds/1"],
      [{ deliveryIds: ["dlv_x"] }, "/deliveryIds/0"],
      [{ deliveryIds: [delivery?.id], status: "failed" }, "/status"],
      [{ since: later }, "/since"],
      [{ since: "2020-01-01T00:00:00Z" }, "/since"],
      [{ since, until: since }, "/until"],
      [{ since, endpointId: foreign.id }, "/endpointId"],
      [{ since, endpointId: "whe_x" }, "/endpointId"],
      [{ since, endpointId, eventType: "order.lost" }, "/eventType"],
    ];
    for (const [body, pointer] of wrong) expectErrors(await request(body), [{ pointer }]);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("the resends of a connection", () => {
  it("are canceled once: what is due is still sent, and nothing further", async () => {
    const { receiver, since } = await aLog(2, answering({ status: 200 }));
    const sent = receiver.requests.length;
    const running = await requested({ since, status: "succeeded" });
    await run();
    const waiting = await requested({ since, status: "succeeded" });
    for (const { id } of [running, waiting, waiting]) {
      const { status, body } = await test.backOffice.post(path(`/${id}/cancel`));
      expect([status, body.status]).toEqual([200, "canceled"]);
    }
    await sendFor(test, partner);
    await run();
    expect(receiver.requests.length - sent).toBe(2);
    const { data } = (await test.backOffice.get(path())).body;
    expect(data).toMatchObject([
      { id: waiting.id, status: "canceled", succeededCount: 0, finishedAt: now() },
      { id: running.id, status: "canceled", succeededCount: 2, finishedAt: now() },
    ]);
    const entries = await test.backOffice.get(
      `/api/audit-entries?subjectId=${waiting.id}&action=cancelResend`,
    );
    expect(entries.body.data).toHaveLength(1);
    const page = (await test.backOffice.get(path("?limit=1"))).body;
    expect(page.data[0].id).toBe(waiting.id);
    const next = (await test.backOffice.get(path(`?limit=1&cursor=${page.nextCursor}`))).body;
    expect([next.data[0].id, next.nextCursor]).toEqual([running.id, null]);
  });

  it("are those of the connection, and are deleted after 90 days", async () => {
    const { since } = await aLog(1, answering({ status: 200 }));
    const { id } = await requested({ since });
    await run();
    const other = await createPartner(test);
    const nowhere = await test.backOffice.get(path("/rsd_01m7y7np16fe68bxp4h91tdmdn"));
    expectProblem(nowhere, 404, "not-found");
    const foreign = await test.backOffice.get(`/api/connections/${other.connectionId}/resends/${id}`);
    expect(withoutItsOwn(foreign)).toBe(withoutItsOwn(nowhere));
    test.clock.advance({ ms: 91 * 86_400_000 });
    await runJob(test, "purge-delivery-log");
    expectProblem(await test.backOffice.get(path(`/${id}`)), 404, "not-found");
  });
});
