import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../../src/platform/ids.ts";
import { encodeCursor, UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { eventRow } from "../../src/webhooks/events/event.ts";
import { lockFeed, NO_POSITION, numberNextEvents } from "../../src/webhooks/events/number-events.ts";
import { createPartner, type Partner, placeOrder, readEvents } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { pollFeed } from "../support/feed.ts";
import { connectionKey, expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

/** An event written in a transaction that is still open; `end` ends it. */
async function openTransaction(
  partner: Partner,
): Promise<{ id: string; end(how: "commit" | "rollback"): Promise<void> }> {
  const begun = Promise.withResolvers<string>();
  const ending = Promise.withResolvers<"commit" | "rollback">();
  const done = test.db.withClient(async (client) => {
    await client.query("begin");
    begun.resolve(await insertEvent(client, partner));
    await client.query(await ending.promise);
  });
  done.catch(begun.reject);
  const id = await begun.promise;
  return {
    id,
    end: async (how) => {
      ending.resolve(how);
      await done;
    },
  };
}

async function insertEvent(client: PoolClient, partner: Partner): Promise<string> {
  const [published] = await readEvents(test, partner.connectionId);
  const event = eventRow({
    ...connectionKey(partner),
    id: test.context.newId(),
    type: "product.published",
    occurredAt: test.clock.now(),
    testMode: false,
    orderId: null,
    sequence: null,
    notAfter: null,
    data: published?.data ?? {},
  });
  await client.query(
    "insert into events (merchant_id, connection_id, id, type, body) values ($1, $2, $3, $4, $5)",
    [event.merchantId, event.connectionId, event.id, event.type, event.body],
  );
  return JSON.parse(event.body).id;
}

describe("the feed, while transactions commit out of order", () => {
  it("waits for no other transaction, and shows its events at the end when it has committed", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(partner, null);
    const transaction = await openTransaction(partner);
    const { id } = await placeOrder(partner);
    const first = await pollFeed(partner, cursor);
    expect(first.events).toMatchObject([{ type: "order.created", data: { order: { id } } }]);
    await transaction.end("commit");
    expect((await pollFeed(partner, first.cursor)).ids).toEqual([transaction.id]);
    expect((await pollFeed(partner, cursor)).ids).toEqual([...first.ids, transaction.id]);
  });

  it("shows events by age if no reader has seen one of them yet", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(partner, null);
    const transaction = await openTransaction(partner);
    const { id } = await placeOrder(partner);
    await transaction.end("commit");
    expect((await pollFeed(partner, cursor)).events).toMatchObject([
      { id: transaction.id },
      { type: "order.created", data: { order: { id } } },
    ]);
  });

  it("never shows an event that is rolled back, and continues", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(partner, null);
    const transaction = await openTransaction(partner);
    await placeOrder(partner);
    await transaction.end("rollback");
    const { events } = await pollFeed(partner, cursor);
    expect(events.map(({ type }) => type)).toEqual(["order.created"]);
    expectProblem(await partner.client.get(`/v1/events/${transaction.id}`), 404, "not-found");
  });

  it("skips nothing and shows nothing twice, in whatever order transactions end", async () => {
    const partner = await createPartner(test);
    let { ids, cursor } = await pollFeed(partner, null);
    const open = [
      await openTransaction(partner),
      await openTransaction(partner),
      await openTransaction(partner),
    ];
    const rolledBack = open[1]?.id;
    const advance = async () => {
      const next = await pollFeed(partner, cursor);
      ids = [...ids, ...next.ids];
      cursor = next.cursor;
    };
    for (const [at, how] of [
      [2, "commit"],
      [1, "rollback"],
      [0, "commit"],
    ] as const) {
      await placeOrder(partner);
      await advance();
      await open[at]?.end(how);
      await advance();
      test.clock.advance({ minutes: 1 });
    }
    await advance();
    const stored = (await readEvents(test, partner.connectionId)).map(({ id }) => id);
    expect([...ids].sort()).toEqual(stored.sort());
    expect(ids).not.toContain(rolledBack);
  });

  it("shows every event once to a poller, while orders are placed all the time", async () => {
    const partner = await createPartner(test);
    let placing = true;
    const placed = Promise.all(
      Array.from({ length: 5 }, async () => {
        for (let count = 0; count < 15; count += 1) await placeOrder(partner);
      }),
    ).finally(() => {
      placing = false;
    });
    const ids: string[] = [];
    let cursor: string | null = null;
    let last = false;
    while (!last) {
      last = !placing;
      const next = await pollFeed(partner, cursor);
      ids.push(...next.ids);
      cursor = next.cursor;
    }
    await placed;
    const stored = (await readEvents(test, partner.connectionId)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(stored.sort());
  });
});

describe("readers of one feed at the same time", () => {
  it("see the same events in the same order", async () => {
    const partner = await createPartner(test);
    await Promise.all(Array.from({ length: 20 }, () => placeOrder(partner)));
    const reads = await Promise.all(Array.from({ length: 8 }, () => pollFeed(partner, null)));
    const [{ ids } = { ids: [] }] = reads;
    expect(ids).toHaveLength(22);
    for (const read of reads) expect(read.ids).toEqual(ids);
  });

  it("leave nothing half done if one of them dies at any statement", async () => {
    const partner = await createPartner(test);
    let { ids, cursor } = await pollFeed(partner, null);
    for (let statement = 1; statement <= 7; statement += 1)
      for (const applied of [false, true]) {
        await placeOrder(partner);
        const db = dyingDatabase(test.db, statement, applied);
        await numberNextEvents({ db, clock: test.clock }, connectionKey(partner), UUID_MIN).catch(
          () => undefined,
        );
        const next = await pollFeed(partner, cursor);
        expect(next.ids).toHaveLength(1);
        ids = [...ids, ...next.ids];
        cursor = next.cursor;
      }
    expect((await pollFeed(partner, null)).ids).toEqual(ids);
  });

  it("do not wait for a reader of another connection", async () => {
    const [slow, other] = [await createPartner(test), await createPartner(test)];
    const ended = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const reading = test.db.transaction(async (tx) => {
      await lockFeed(tx, connectionKey(slow));
      locked.resolve();
      await ended.promise;
    });
    await locked.promise;
    expect((await pollFeed(other, null)).ids).toHaveLength(2);
    ended.resolve();
    await reading;
  });
});

describe("the feed after older data was restored", () => {
  it("continues after every position that readers have seen, and skips nothing", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    const { merchantId, connectionId } = connectionKey(partner);
    // A backup from before the first reader: neither it nor the last event is known.
    const before = await pollFeed(partner, null);
    await test.db.query({
      name: "test-restore-feed",
      text: `
        with forgotten as (delete from event_feeds where merchant_id = $1 and connection_id = $2)
        update events set position = ${NO_POSITION} where merchant_id = $1 and connection_id = $2`,
      values: [merchantId, connectionId],
    });
    test.clock.advance({ ms: 1 });
    const { id } = await placeOrder(partner);
    const after = await pollFeed(partner, before.cursor);
    expect(after.ids.slice(0, before.ids.length)).toEqual(before.ids);
    expect(after.events.slice(before.ids.length)).toMatchObject([
      { type: "order.created", data: { order: { id } } },
    ]);
  });

  it("never goes back if the clock does", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(partner, null);
    const clock = { now: () => new Date(test.clock.now().getTime() - 60_000) };
    await placeOrder(partner);
    await numberNextEvents({ db: test.db, clock }, connectionKey(partner), UUID_MIN);
    expect((await pollFeed(partner, cursor)).ids).toHaveLength(1);
  });
});

describe("a cursor of another filter", () => {
  it("of the whole feed continues the feed of an order, and ends where that ends", async () => {
    const partner = await createPartner(test);
    const order = await placeOrder(partner);
    const { cursor } = await pollFeed(partner, null);
    await partner.client.post(`/v1/orders/${order.id}/cancel`);
    await placeOrder(partner);
    const rest = await pollFeed(partner, cursor, `&orderId=${order.id}`);
    expect(rest.events.map(({ type }) => type)).toEqual(["order.canceled"]);
  });

  it("of an order skips nothing of the whole feed, nor of another order, and may repeat the last hour", async () => {
    const partner = await createPartner(test);
    test.clock.advance({ hours: 2 });
    const [order, other] = [await placeOrder(partner), await placeOrder(partner)];
    const { cursor } = await pollFeed(partner, null, `&orderId=${order.id}`);
    await partner.client.post(`/v1/orders/${order.id}/cancel`);
    await partner.client.post(`/v1/orders/${other.id}/cancel`);
    const types = ["order.created", "order.canceled"];
    const rest = await pollFeed(partner, cursor, `&orderId=${other.id}`);
    expect(rest.events.map(({ type }) => type)).toEqual(types);
    expect((await pollFeed(partner, cursor)).events.map(({ type }) => type)).toEqual([
      "order.created",
      "order.created",
      "order.canceled",
      "order.canceled",
    ]);
  });

  it("from before positions were counted does the same", async () => {
    const partner = await createPartner(test);
    test.clock.advance({ hours: 2 });
    await placeOrder(partner);
    const [, , created] = (await pollFeed(partner, null)).ids;
    await placeOrder(partner);
    const old = Buffer.concat([Buffer.alloc(12, 1), bytesOf(uuidIn("evt", created ?? ""))]);
    const rest = await pollFeed(partner, encodeCursor("events", old));
    expect(rest.ids).toHaveLength(2);
    expect(rest.ids[0]).toBe(created);
  });
});
