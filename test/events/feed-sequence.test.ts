import { expect, it } from "vitest";
import { fullAccess } from "../../src/merchants/key-mode.ts";
import { cancelOrder } from "../../src/orders/changes/cancel-order.ts";
import { acceptDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import { parseOrderRef } from "../../src/orders/order-wire.ts";
import type { Context } from "../../src/platform/context.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { pollFeed, readFeedPage } from "../support/feed.ts";
import { connectionKey, transitionOrder } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";
import { createEndpoint, uuidIn } from "../support/webhooks.ts";

// The feed never contradicts the sequence of an order, whatever transaction ids its transitions have (decision 0027).

const typesOfOrder = async (test: TestService, partner: Partner, orderId: string) =>
  (await pollFeed(test, partner, null, `&orderId=${orderId}`)).events.map(({ type }) => type);

/** Each of its transactions gets its id first, then `during` runs, and only then its work. */
const withEarlyIds = (test: TestService, during: () => Promise<unknown>): Context => ({
  ...test.context,
  db: {
    ...test.db,
    transaction: (work) =>
      test.db.transaction(async (tx) => {
        await tx.query({ name: "test-early-id", text: "select pg_current_xact_id()", values: [] });
        await during();
        return work(tx);
      }),
  },
});

const holdOrder = (test: TestService, partner: Partner, orderId: string) =>
  transitionOrder(test, partner, orderId, { name: "hold", reasons: ["merchant_request"] });

it("shows an order's events in sequence when a transaction got its id before the one that it waited for", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const { id } = await placeOrder(partner);
  const early = withEarlyIds(test, () => holdOrder(test, partner, id));
  await cancelOrder(early, fullAccess(connectionKey(partner)), parseOrderRef(id));
  const types = ["order.created", "order.onHold", "order.canceled"];
  expect(await typesOfOrder(test, partner, id)).toEqual(types);
  expect((await pollFeed(test, partner, null)).events.slice(-3).map(({ type }) => type)).toEqual(types);
});

it("does so when one transaction changes several orders, and when an order is younger than the transaction", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  await createEndpoint(partner, { eventTypes: ["order.accepted"] });
  const held = await Promise.all(times(5, () => placeOrder(partner)));
  const created: string[] = [];
  const early = withEarlyIds(test, async () => {
    for (const { id } of held) await holdOrder(test, partner, id);
    created.push((await placeOrder(partner)).id);
    test.clock.advance({ hours: 2 });
  });
  // The acceptance reads the orders at a time at which all of them are due.
  const later = { now: () => new Date(test.clock.now().getTime() + 2 * 3_600_000) };
  expect(await acceptDueOrders({ ...early, clock: later }, [connectionKey(partner)], [])).toBe(6);
  for (const { id } of held)
    expect(await typesOfOrder(test, partner, id)).toEqual([
      "order.created",
      "order.onHold",
      "order.accepted",
    ]);
  expect(await typesOfOrder(test, partner, created[0] ?? "")).toEqual(["order.created", "order.accepted"]);
});

it("shows a poller every event once and in sequence while many requests change orders, over several processes", async () => {
  const first = await startServiceForTest();
  const partner = await createPartner(first);
  const databaseUrl = first.context.config.databaseUrl ?? "";
  const others = [await startServiceForTest({ databaseUrl }), await startServiceForTest({ databaseUrl })];
  const clients = [partner, ...others.map((other) => ({ client: other.partner(partner.key) }))];
  const orders = await Promise.all(times(5, () => placeTestOrder(partner)));

  const inRounds = async () => {
    for (let round = 0; round < 8; round += 1)
      await Promise.all(
        orders.flatMap(({ id }) =>
          clients.flatMap((client) => times(3, () => transition(client, id, "hold"))),
        ),
      );
  };
  let changing = true;
  const changed = inRounds().finally(() => {
    changing = false;
  });
  const read: { id: string; sequence: number | null; data?: { order?: { id: string } } }[] = [];
  let cursor: string | null = null;
  for (let last = false; !last; ) {
    last = !changing;
    const next = await pollFeed(first, partner, cursor);
    cursor = next.cursor;
    read.push(...next.events);
  }
  await changed;

  const stored = (await readEvents(first, partner.connectionId)).map(({ id }) => id);
  expect(read.map(({ id }) => id).sort()).toEqual(stored.sort());
  for (const { id } of orders) {
    const sequences = read.filter(({ data }) => data?.order?.id === id).map(({ sequence }) => sequence);
    expect(sequences).toEqual(times(1 + 8 * 3 * 3, (index) => index + 1));
    const ofOrder = await pollFeed(first, partner, null, `&orderId=${id}`);
    expect(ofOrder.events.map(({ sequence }) => sequence)).toEqual(sequences);
  }
});

/** As a restore from a server leaves an order behind that had counted far more transactions than this one. */
async function restoreElsewhere({ db }: TestService, orderId: string, position: string): Promise<void> {
  const id = uuidIn("ord", orderId);
  await db.query({
    name: "test-restore-order",
    text: "update orders set last_feed_position = $2 where id = $1",
    values: [id, position],
  });
  await db.query({
    name: "test-restore-events",
    text: "update events set feed_position = $2 where order_id = $1",
    values: [id, position],
  });
}

it("shows what happens to a restored order to readers that have passed the restored events, and in sequence", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const restored = await placeOrder(partner);
  await holdOrder(test, partner, restored.id);
  await restoreElsewhere(test, restored.id, "900000000009");
  const amongRestored = (await readFeedPage(test, partner, "?limit=1")).nextCursor;
  const atEnd = (await pollFeed(test, partner, null)).cursor;
  await transitionOrder(test, partner, restored.id, { name: "releaseHold" });
  await partner.client.post(`/v1/orders/${restored.id}/cancel`);

  const fresh = ["order.onHoldReleased", "order.canceled"];
  expect((await pollFeed(test, partner, atEnd)).events.map(({ type }) => type)).toEqual(fresh);
  const rest = (await pollFeed(test, partner, amongRestored)).events.map(({ type }) => type);
  expect(rest).toEqual(["order.onHold", "product.published", "product.published", ...fresh]);
  const all = ["order.created", "order.onHold", ...fresh];
  expect(await typesOfOrder(test, partner, restored.id)).toEqual(all);
});

it("does so when the restored position is the one that this server counts to next", async () => {
  // So that no request takes a transaction id of its own.
  const test = await startServiceForTest({ config: { rateLimitPerMinute: 0 } });
  const partner = await createPartner(test);
  const order = await placeOrder(partner);
  for (const ahead of [0, 1, 2, 3]) {
    const [row] = await test.db.query<{ next: string }>({
      name: "test-next-transaction",
      text: "select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + $1)::text as next",
      values: [ahead],
    });
    await restoreElsewhere(test, order.id, row?.next ?? "");
    const { cursor } = await pollFeed(test, partner, null);
    const reasons = [`reason_${ahead}`]; // A reason that the order is already held for publishes nothing.
    await transitionOrder(test, partner, order.id, { name: "hold", reasons });
    expect((await pollFeed(test, partner, cursor)).events.map(({ type }) => type)).toContain("order.onHold");
  }
});
