import { describe, expect, it } from "vitest";
import {
  anOrder,
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../../support/builders.ts";
import { readOrder } from "../../support/orders.ts";
import { eventsOf, transition, typesOf } from "../../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";

describe("partitions that were not created ahead", () => {
  async function partitionCount({ db }: TestService): Promise<number> {
    const [row] = await db.query<{ count: number }>({
      name: "test-partition-count",
      text: "select count(*)::integer as count from pg_inherits where inhparent = 'events'::regclass",
      values: [],
    });
    return row?.count ?? 0;
  }

  it("are created automatically when orders are placed sixty days later", async () => {
    const own = await startServiceForTest();
    const ownPartner = await createPartner(own);
    const before = await partitionCount(own);
    own.clock.advance({ hours: 24 * 60 });
    const orders = await Promise.all(Array.from({ length: 40 }, () => placeOrder(ownPartner)));
    expect(await partitionCount(own)).toBeGreaterThan(before);
    const created = typesOf(await readEvents(own)).filter((type) => type === "order.created");
    expect(created).toHaveLength(orders.length);
  });

  it("are made once when two processes place orders at the same time", async () => {
    const one = await startServiceForTest();
    const ownPartner = await createPartner(one);
    const two = await startServiceForTest({ databaseUrl: one.context.config.databaseUrl ?? "" });
    for (const { clock } of [one, two]) clock.advance({ hours: 24 * 60 });
    const clients = [ownPartner.client, two.partner(ownPartner.key)];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => clients[index % 2]?.post("/v1/orders", anOrder(ownPartner))),
    );
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201]));
  });

  it("are made when a product is exposed", async () => {
    const own = await startServiceForTest();
    const ownPartner = await createPartner(own);
    own.clock.advance({ hours: 24 * 60 });
    await createExposedProduct(own, ownPartner.merchantId, ownPartner.connectionId);
    expect(typesOf(await readEvents(own)).at(-1)).toBe("product.published");
  });

  it.each([
    ["a transition", (own: Partner, id: string) => transition(own, id, "ship")],
    ["a cancel", (own: Partner, id: string) => own.client.post(`/v1/orders/${id}/cancel`)],
  ])("are made when %s is the first event of a day", async (_title, act) => {
    const own = await startServiceForTest();
    const ownPartner = await createPartner(own);
    const place = () => placeTestOrder(ownPartner);
    // Placing an order makes partitions for that day and the next fourteen: go to the last hour of the last one.
    await place();
    own.clock.advance({ hours: 14 * 24 + 14, minutes: 30 });
    const { id } = await place();
    const before = await partitionCount(own);
    own.clock.advance({ hours: 1 });
    expect((await act(ownPartner, id)).status).toBe(200);
    expect(await partitionCount(own)).toBeGreaterThan(before);
    expect(await eventsOf(own, id)).toHaveLength(2);
    expect((await readOrder(ownPartner, id)).status).not.toBe("NEW");
  });
});
