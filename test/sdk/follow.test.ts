import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Event, isProblem, PartnerOrders } from "../../packages/sdk/src/index.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { all, anOrderOf } from "../support/partner-sdk.ts";

let listener: PartnerListener;
let client: PartnerOrders;
beforeAll(async () => {
  listener = await startPartnerListener();
  client = clientWith(fetch);
});
afterAll(() => listener.close());

const clientWith = (ownFetch: typeof fetch) =>
  new PartnerOrders({ baseUrl: listener.url, key: listener.partner.key, fetch: ownFetch, attemptsMax: 1 });

let placed = 0;
async function driveOrder(): Promise<string> {
  placed += 1;
  const order = anOrderOf(listener.partner.productIds[0], `followed-${placed}`);
  const { id } = await client.orders.create({ ...order, testMode: true });
  for (const transition of ["hold", "releaseHold", "ship", "complete"] as const)
    await client.testOrders.transition(id, { transition });
  return id;
}

const sequences = (events: readonly Event[], orderId: string) =>
  events.filter(({ data }) => "order" in data && data.order.id === orderId).map(({ sequence }) => sequence);

describe("events.follow", () => {
  it("yields all events, each order's in its order, and continues from the stored cursor", async () => {
    const before = await driveOrder();
    const controller = new AbortController();
    const seen: Event[] = [];
    let stored = "";
    for await (const { events, cursor } of client.events.follow({ signal: controller.signal, pollMs: 1 })) {
      seen.push(...events);
      stored = cursor;
      if (sequences(seen, before).length === 5) controller.abort();
    }
    expect(sequences(seen, before)).toEqual([1, 2, 3, 4, 5]);
    const next = await driveOrder();
    for await (const { events } of client.events.follow({ cursor: stored, pollMs: 1 })) {
      expect(sequences(events, before)).toEqual([]);
      expect(sequences(events, next)).toEqual([1, 2, 3, 4, 5]);
      break;
    }
  });

  it("outlasts a service that is away, and repeats at most the batch that was not stored", async () => {
    const id = await driveOrder();
    let calls = 0;
    const flaky = clientWith(async (...request) => {
      calls += 1;
      if (calls % 3 === 1) throw new TypeError("fetch failed");
      if (calls % 3 === 2) return new Response("<html>", { status: 502 });
      return fetch(...request);
    });
    // The program dies in the middle of a batch, before it stores the cursor.
    let stored: string | null = null;
    const seen: Event[] = [];
    for (let lives = 0; sequences(seen, id).length < 10; lives += 1) {
      expect(lives).toBeLessThan(10);
      for await (const { events, cursor } of flaky.events.follow({
        cursor: stored,
        orderId: id,
        pollMs: 1,
      })) {
        seen.push(...events);
        if (lives % 2 === 1) stored = cursor;
        break;
      }
    }
    expect(sequences(seen, id)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    expect(stored).not.toBeNull();
  });

  it("ends at its signal, also while it waits at the end of the feed", async () => {
    const controller = new AbortController();
    const batches = all(
      clientWith(async (...request) => {
        const response = await fetch(...request);
        const page = (await response.clone().json()) as { nextCursor: string | null };
        if (page.nextCursor === null) setImmediate(() => controller.abort());
        return response;
      }).events.follow({ signal: controller.signal, pollMs: 3_600_000, type: "order.paymentFailed" }),
    );
    expect(await batches).toEqual([]);
  });

  it("throws what waiting does not cure", async () => {
    const error = await all(client.events.follow({ cursor: "no cursor" })).catch((reason) => reason);
    expect(isProblem(error) && error.code).toBe("validation-failed");
    const stranger = new PartnerOrders({ baseUrl: listener.url, key: "wrong" });
    expect(await all(stranger.events.follow()).catch((reason) => reason)).toMatchObject({
      code: "unauthorized",
    });
  });
});

describe("reconcile", () => {
  it("finds what was missed, what the service does not know, and what differs", async () => {
    const since = new Date(0);
    const [missed, same, old] = [await driveOrder(), await driveOrder(), await driveOrder()];
    const oldCopy = { ...(await client.orders.get(old)), sequence: 4 };
    const newer = await client.orders.get(same);
    const foreign = { ...newer, id: "ord_01m7y7np16fe68bxp4h91tdmdn", externalOrderId: "never-placed" };
    const found = await client.reconcile({ since, mine: [newer, oldCopy, foreign] });
    expect(found.missed.map(({ id }) => id)).toContain(missed);
    expect(found.missed.map(({ id }) => id)).not.toContain(same);
    expect(found.unknown).toEqual([foreign]);
    expect(found.differs).toEqual([{ mine: oldCopy, order: await client.orders.get(old) }]);
  });

  it("compares also what has not changed since, in groups", async () => {
    const id = await driveOrder();
    const order = await client.orders.get(id);
    const since = new Date(Date.parse(order.updatedAt) + 3_600_000);
    const strangers = Array.from({ length: 3 }, (_one, index) => ({
      ...order,
      id: `${index}`,
      externalOrderId: `stranger-${index}`,
    }));
    const withoutOwnId = { id, sequence: order.sequence, updatedAt: "2020-01-01T00:00:00.000Z" };
    expect(await client.reconcile({ since, mine: [order] })).toEqual({
      missed: [],
      unknown: [],
      differs: [],
    });
    const { missed, unknown, differs } = await client.reconcile({
      since,
      mine: listOf(withoutOwnId, ...strangers),
    });
    expect(missed).toEqual([]);
    expect(unknown).toHaveLength(3);
    expect(differs).toEqual([{ mine: withoutOwnId, order }]);
  });

  it("is empty after what it found is stored", async () => {
    await driveOrder();
    const since = new Date(0);
    const { missed } = await client.reconcile({ since, mine: [] });
    expect(missed.length).toBeGreaterThan(0);
    expect(await client.reconcile({ since, mine: missed })).toEqual({ missed: [], unknown: [], differs: [] });
  });
});

async function* listOf<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}
