import { expect, it } from "vitest";
import { fullAccess } from "../../../src/merchants/api-key.ts";
import { cancelOrder } from "../../../src/orders/changes/change-order.ts";
import { acceptDueOrders } from "../../../src/orders/deadlines/accept-orders.ts";
import { parseOrderRef } from "../../../src/orders/order-wire.ts";
import type { Context } from "../../../src/platform/context.ts";
import { newIdsFrom } from "../../../src/platform/ids.ts";
import { UUID_MIN } from "../../../src/platform/wire/cursor.ts";
import {
  NO_POSITION,
  NUMBERED_TOGETHER_MAX,
  numberNextEvents,
} from "../../../src/webhooks/events/number-events.ts";
import {
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../../support/builders.ts";
import { pollFeed } from "../../support/feed.ts";
import { connectionKey, transitionOrder } from "../../support/orders.ts";
import { transition } from "../../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";
import { times } from "../../support/two-services.ts";
import { createEndpoint } from "../../support/webhooks.ts";

// The feed never contradicts the sequence of an order, whatever the order of transactions and the clocks
// (docs/design/event-feed.md, "Positions when read").

const typesOfOrder = async (partner: Partner, orderId: string) =>
  (await pollFeed(partner, null, `&orderId=${orderId}`)).events.map(({ type }) => type);

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
  expect(await typesOfOrder(partner, id)).toEqual(types);
  expect((await pollFeed(partner, null)).events.slice(-3).map(({ type }) => type)).toEqual(types);
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
    expect(await typesOfOrder(partner, id)).toEqual(["order.created", "order.onHold", "order.accepted"]);
  expect(await typesOfOrder(partner, created[0] ?? "")).toEqual(["order.created", "order.accepted"]);
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
    const next = await pollFeed(partner, cursor);
    cursor = next.cursor;
    read.push(...next.events);
  }
  await changed;

  const stored = (await readEvents(first, partner.connectionId)).map(({ id }) => id);
  expect(read.map(({ id }) => id).sort()).toEqual(stored.sort());
  for (const { id } of orders) {
    const sequences = read.filter(({ data }) => data?.order?.id === id).map(({ sequence }) => sequence);
    expect(sequences).toEqual(times(1 + 8 * 3 * 3, (index) => index + 1));
    const ofOrder = await pollFeed(partner, null, `&orderId=${id}`);
    expect(ofOrder.events.map(({ sequence }) => sequence)).toEqual(sequences);
  }
});

it("shows them in sequence when the clock of the process that made the later event is behind", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const order = await placeOrder(partner);
  test.clock.advance({ minutes: 30 });
  const newId = newIdsFrom({ now: () => new Date(test.clock.now().getTime() - 3_000_000) });
  await cancelOrder({ ...test.context, newId }, fullAccess(connectionKey(partner)), parseOrderRef(order.id));
  const types = ["order.created", "order.canceled"];
  const ofOrders = (await pollFeed(partner, null)).events.filter(({ sequence }) => sequence !== null);
  expect(ofOrders.map(({ type }) => type)).toEqual(types);
  expect(await typesOfOrder(partner, order.id)).toEqual(types);
});

it("does so when so many events wait that the earlier one is not among the oldest", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const order = await placeOrder(partner);
  const newId = newIdsFrom({ now: () => new Date(test.clock.now().getTime() - 60_000) });
  await cancelOrder({ ...test.context, newId }, fullAccess(connectionKey(partner)), parseOrderRef(order.id));
  const { merchantId, connectionId } = connectionKey(partner);
  const between = newIdsFrom({ now: () => new Date(test.clock.now().getTime() - 30_000) });
  await test.db.query({
    name: "test-many-events",
    text: `
      insert into events (merchant_id, connection_id, id, type, body)
      select $1, $2, id, 'product.published', '{}' from unnest($3::uuid[]) as id`,
    values: [merchantId, connectionId, times(NUMBERED_TOGETHER_MAX, between)],
  });
  await numberNextEvents(test.context, connectionKey(partner), UUID_MIN);
  const numbered = await test.db.query<{ sequence: number; position: string }>({
    name: "test-numbered",
    text: `select sequence, position from events where connection_id = $1 and order_id is not null and position < ${NO_POSITION} order by position`,
    values: [connectionId],
  });
  expect(numbered.map(({ sequence }) => sequence)).toEqual([1, 2]);
});
