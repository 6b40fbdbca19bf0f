import { expect, inject, it } from "vitest";
import { anOrder, createPartner, type Partner } from "../support/builders.ts";
import { moveMerchant, placementOfMerchant } from "../support/citus-nodes.ts";
import { pollFeed } from "../support/feed.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

/** Reads again after a 503: on a busy machine the last step of a move takes longer than a statement may. */
const patient = ({ client, ...partner }: Partner): Partner => ({
  ...partner,
  client: {
    ...client,
    get: async (path, options) => {
      for (;;) {
        const answer = await client.get(path, options);
        if (answer.status !== 503) return answer;
      }
    },
  },
});

// docs/design/event-feed.md, "Positions when read": positions are counted in the data, so they move with it.
it.skipIf(inject("citusNodes").length === 0)(
  "a reader of the feed gets every event once and in sequence while the shard moves to another node and back, under writes",
  async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const at = await placementOfMerchant(test, partner.merchantId);
    let isMoving = true;

    const write = async () => {
      while (isMoving) {
        const { status, body } = await partner.client.post(
          "/v1/orders",
          anOrder(partner, { testMode: true }),
        );
        expect([201, 503], JSON.stringify(body)).toContain(status);
        if (status === 201) await partner.client.post(`/v1/orders/${body.id}/cancel`);
      }
    };
    const seen: { id: string; sequence: number | null; data?: { order?: { id: string } } }[] = [];
    let cursor: string | null = null;
    const read = async () => {
      const page = await pollFeed(patient(partner), cursor);
      cursor = page.cursor;
      seen.push(...(page.events as unknown as typeof seen));
    };
    const follow = async () => {
      while (isMoving) await read();
    };
    const move = async () => {
      try {
        await moveMerchant(test, partner.merchantId, "force_logical");
        expect(await placementOfMerchant(test, partner.merchantId)).not.toEqual(at);
        await moveMerchant(test, partner.merchantId, "block_writes");
        expect(await placementOfMerchant(test, partner.merchantId)).toEqual(at);
      } finally {
        isMoving = false;
      }
    };
    await Promise.all([move(), follow(), write(), write(), write()]);
    await read();

    const stored = await test.db.query<{ id: string }>({
      name: "test-stored-events",
      text: "select id from events where merchant_id = $1",
      values: [uuidIn("mer", partner.merchantId)],
    });
    expect(seen.map(({ id }) => uuidIn("evt", id)).sort()).toEqual(stored.map(({ id }) => id).sort());
    const ofOrders = Map.groupBy(seen, ({ data }) => data?.order?.id);
    for (const [order, events] of ofOrders)
      if (order !== undefined)
        expect(events.map(({ sequence }) => sequence)).toEqual([1, 2].slice(0, events.length));
    expect(ofOrders.size).toBeGreaterThan(3);
  },
);
