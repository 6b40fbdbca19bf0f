import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventRow } from "../../../src/events/event.ts";
import { createPartner, type Partner, placeOrder, readEvents } from "../../support/builders.ts";
import { pollFeed, readFeedPage } from "../../support/feed.ts";
import { connectionKey, expectProblem } from "../../support/orders.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";
import { uuidIn } from "../../support/webhooks.ts";

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

async function insertEvent(client: PoolClient, partner: Partner, feedPosition?: string): Promise<string> {
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
    `insert into events (merchant_id, connection_id, id, type, body, feed_position)
     values ($1, $2, $3, $4, $5, coalesce($6::xid8, pg_current_xact_id()))`,
    [event.merchantId, event.connectionId, event.id, event.type, event.body, feedPosition],
  );
  return JSON.parse(event.body).id;
}

describe("the feed, while transactions commit out of order", () => {
  it("waits for a transaction that began earlier, and then shows its events before the later ones", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(test, partner, null);
    const transaction = await openTransaction(partner);
    const { id } = await placeOrder(partner);
    expect((await pollFeed(test, partner, cursor)).ids).toEqual([]);
    await transaction.end("commit");
    const { events } = await pollFeed(test, partner, cursor);
    expect(events).toMatchObject([
      { id: transaction.id },
      { type: "order.created", data: { order: { id } } },
    ]);
  });

  it("never shows an event that is rolled back, and continues", async () => {
    const partner = await createPartner(test);
    const { cursor } = await pollFeed(test, partner, null);
    const transaction = await openTransaction(partner);
    await placeOrder(partner);
    await transaction.end("rollback");
    const { events } = await pollFeed(test, partner, cursor);
    expect(events.map(({ type }) => type)).toEqual(["order.created"]);
    expectProblem(await partner.client.get(`/v1/events/${transaction.id}`), 404, "not-found");
  });

  it("shows the same by order", async () => {
    const partner = await createPartner(test);
    const transaction = await openTransaction(partner);
    const { id } = await placeOrder(partner);
    expect((await pollFeed(test, partner, null, `&orderId=${id}`)).ids).toEqual([]);
    await transaction.end("commit");
    expect((await pollFeed(test, partner, null, `&orderId=${id}`)).ids).toHaveLength(1);
  });

  it("skips nothing and shows nothing twice, in whatever order transactions end", async () => {
    const partner = await createPartner(test);
    let { ids, cursor } = await pollFeed(test, partner, null);
    const open = [
      await openTransaction(partner),
      await openTransaction(partner),
      await openTransaction(partner),
    ];
    const rolledBack = open[1]?.id;
    const advance = async () => {
      const next = await pollFeed(test, partner, cursor);
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
      const next = await pollFeed(test, partner, cursor);
      ids.push(...next.ids);
      cursor = next.cursor;
    }
    await placed;
    const stored = (await readEvents(test, partner.connectionId)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(stored.sort());
  });
});

describe("the feed on a server to which the data was restored", () => {
  /** From a server that had counted far more transactions than this one. */
  const restore = (partner: Partner, feedPosition: string) =>
    test.db.withClient((client) => insertEvent(client, partner, feedPosition));

  it("shows the restored events first, and then those of this server", async () => {
    const partner = await createPartner(test);
    const own = (await pollFeed(test, partner, null)).ids;
    const restored = [
      await restore(partner, "900000000001"),
      await restore(partner, "900000000001"),
      await restore(partner, "900000000007"),
    ];
    expect((await pollFeed(test, partner, null)).ids).toEqual([...restored, ...own]);
  });

  it("takes a poller on whose cursor is from before, without a gap or a repetition", async () => {
    const partner = await createPartner(test);
    const own = (await pollFeed(test, partner, null)).ids;
    const restored = [await restore(partner, "900000000001"), await restore(partner, "900000000002")];
    const { nextCursor } = await readFeedPage(test, partner, "?limit=1");
    const rest = await pollFeed(test, partner, nextCursor);
    expect(rest.ids).toEqual([restored[1], ...own]);
    await placeOrder(partner);
    const fresh = await pollFeed(test, partner, rest.cursor);
    expect(fresh.events).toMatchObject([{ type: "order.created" }]);
    expect((await pollFeed(test, partner, fresh.cursor)).ids).toEqual([]);
  });

  it("does so by order as well", async () => {
    const partner = await createPartner(test);
    const order = await placeOrder(partner);
    const [created] = (await pollFeed(test, partner, null, `&orderId=${order.id}`)).ids;
    await test.db.query({
      name: "test-restore-event",
      text: "update events set feed_position = '900000000009' where id = $1",
      values: [uuidIn("evt", created ?? "")],
    });
    const restored = await pollFeed(test, partner, null, `&orderId=${order.id}`);
    expect(restored.ids).toEqual([created]);
    await partner.client.post(`/v1/orders/${order.id}/cancel`);
    const fresh = await pollFeed(test, partner, restored.cursor, `&orderId=${order.id}`);
    expect(fresh.events.map(({ type }) => type)).toEqual(["order.canceled"]);
    expect((await pollFeed(test, partner, fresh.cursor, `&orderId=${order.id}`)).ids).toEqual([]);
    expect((await pollFeed(test, partner, null, `&orderId=${order.id}`)).ids).toEqual([
      created,
      ...fresh.ids,
    ]);
  });
});
