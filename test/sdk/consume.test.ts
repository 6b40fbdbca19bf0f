import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Event, PartnerOrders, type WebhookEvent } from "../../packages/sdk/src/index.ts";
import { runJob } from "../support/jobs.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { anOrderOf } from "../support/partner-sdk.ts";

let listener: PartnerListener;
let client: PartnerOrders;
beforeAll(async () => {
  listener = await startPartnerListener();
  client = clientWith(fetch);
});
afterAll(() => listener.close());

const clientWith = (ownFetch: typeof fetch) =>
  new PartnerOrders({ baseUrl: listener.url, key: listener.partner.key, fetch: ownFetch, attemptsMax: 1 });
const newEndpoint = () => client.webhookEndpoints.create({ kind: "pull", mode: "test" });
const endLeases = async () => {
  listener.test.clock.advance({ minutes: 5 });
  await runJob(listener.test, "end-pull-leases");
  listener.test.clock.advance({ minutes: 5 }); // The wait before the next attempt.
};

let placed = 0;
async function driveOrders(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    placed += 1;
    const order = anOrderOf(listener.partner.productIds[0], `consumed-${placed}`);
    const { id } = await client.orders.create({ ...order, testMode: true });
    for (const transition of ["hold", "releaseHold", "ship", "complete"] as const)
      await client.testOrders.transition(id, { transition });
    ids.push(id);
  }
  return ids;
}

const orderOf = (event: WebhookEvent): string =>
  (event as Extract<Event, { type: "order.created" }>).data.order.id;
const sequencesOf = (events: readonly WebhookEvent[], id: string) =>
  events.filter((event) => orderOf(event) === id).map(({ sequence }) => sequence);

describe("pull.consume", () => {
  it("processes every event once, each order's in its order, orders beside each other", async () => {
    const { id: endpointId } = await newEndpoint();
    const ids = await driveOrders(3);
    const controller = new AbortController();
    const seen: WebhookEvent[] = [];
    let [running, most] = [0, 0];
    await client.pull.consume(
      endpointId,
      async (event, { deliveryId, headers }) => {
        expect(deliveryId).toMatch(/^dlv_/);
        expect(Object.keys(headers)).toContain("webhook-signature");
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        seen.push(event);
        running -= 1;
        if (seen.length === 15) controller.abort();
      },
      { signal: controller.signal },
    );
    for (const id of ids) expect(sequencesOf(seen, id)).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBeGreaterThan(1);
    const log = (await client.deliveries.list({ endpointId })).data;
    expect(log.map(({ status }) => status)).toEqual(Array(15).fill("succeeded"));
  });

  it("loses nothing and keeps the order, if the process dies after it has processed and before it acknowledges", async () => {
    const { id: endpointId } = await newEndpoint();
    const [id = ""] = await driveOrders(1);
    const seen: WebhookEvent[] = [];
    for (let life = 0; life < 6; life += 1) {
      const controller = new AbortController();
      const dying = clientWith(async (url, init) => {
        // The event was processed. The acknowledgement never leaves.
        if (life < 3 && String(url).endsWith("acknowledgements")) {
          controller.abort();
          throw new TypeError("The process died.");
        }
        return fetch(url, init);
      });
      const done = dying.pull.consume(
        endpointId,
        (event) => {
          seen.push(event);
          if (event.sequence === 5 && life >= 3) controller.abort();
        },
        { signal: controller.signal },
      );
      await done;
      await endLeases();
      if (seen.at(-1)?.sequence === 5) break;
    }
    expect(sequencesOf(seen, id)).toEqual([1, 1, 1, 1, 2, 3, 4, 5]);
  });

  it("fails the attempt of a handler that throws, with the reason in the log", async () => {
    const { id: endpointId } = await newEndpoint();
    await driveOrders(1);
    const controller = new AbortController();
    await client.pull.consume(
      endpointId,
      () => {
        controller.abort();
        throw new Error("The disk\u0000 is\nfull.");
      },
      { signal: controller.signal },
    );
    const { data } = await client.deliveries.list({ endpointId, hasFailedAttempts: true });
    const delivery = await client.deliveries.get(String(data[0]?.id));
    expect(delivery.attempts[0]).toMatchObject({ responseStatus: null });
    expect(JSON.stringify(delivery.attempts[0])).toContain("The disk  is full.");
  });

  it("shows in the log how another program has responded", async () => {
    const { id: endpointId } = await newEndpoint();
    await driveOrders(1);
    const controller = new AbortController();
    await client.pull.consume(
      endpointId,
      () => {
        controller.abort();
        return { status: 418, responseBody: "teapot" };
      },
      { signal: controller.signal },
    );
    const { data } = await client.deliveries.list({ endpointId, hasFailedAttempts: true });
    expect((await client.deliveries.get(String(data[0]?.id))).attempts[0]).toMatchObject({
      responseStatus: 418,
      responseBody: "teapot",
    });
  });

  it("throws what waiting does not cure", async () => {
    const rejected = await client.pull
      .consume("whe_01m7y7np16fe68bxp4h91tdmdn", () => {})
      .catch((error) => error);
    expect(rejected).toMatchObject({ code: "not-found" });
    const stranger = new PartnerOrders({ baseUrl: listener.url, key: "wrong" });
    const { id } = await newEndpoint();
    expect(await stranger.pull.consume(id, () => {}).catch((error) => error)).toMatchObject({
      code: "unauthorized",
    });
  });
});
