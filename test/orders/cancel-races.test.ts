import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acceptDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  connectionKey,
  orderPath,
  readOrder,
  readOrderEvents,
  readStoredOrders,
} from "../support/orders.ts";
import { type Answer, startServiceForTest } from "../support/test-service.ts";
import { startTwoServices, type TwoServices, tally, times } from "../support/two-services.ts";

// See docs/design/creating-orders.md, "Constraints decide", and docs/design/lifecycle.md, "The deadline decides". Real
// processes are in process-races.test.ts.

let services: TwoServices;
let partner: Partner;
beforeAll(async () => {
  services = await startTwoServices();
});
beforeEach(async () => {
  partner = await services.nextPartner();
});
afterAll(() => services.close());

describe("cancels at the same time", () => {
  it("twenty cancels of one order: all return 200 with the same order, and one event is published", async () => {
    const { id } = await placeOrder(partner);
    const other = { ...partner, client: services.second.partner(partner.key) };
    const answers = await Promise.all(times(20, (n) => cancelOrder(n % 2 === 0 ? partner : other, id)));
    expect(tally(answers)).toEqual({ 200: 20 });
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect((await readStoredOrders(services.first, partner))[0]).toMatchObject({
      status: "CANCELED",
      events: ["order.created", "order.canceled"],
    });
  });

  it("with transitions: events count 1, 2, 3 … without gap or duplicate, and the last shows the present order", async () => {
    const { id } = await placeTestOrder(partner);
    const path = `/v1/test${orderPath(id).slice(3)}/transitions`;
    const clients = [partner.client, services.second.partner(partner.key)];
    await Promise.all([
      ...times(20, (n) => clients[n % 2]?.post(path, { transition: n % 4 < 2 ? "hold" : "releaseHold" })),
      cancelOrder(partner, id),
    ]);
    const events = await readOrderEvents(services.first, partner, id);
    events.sort((one, other) => one.sequence - other.sequence);
    expect(events.map(({ sequence }) => sequence)).toEqual(times(events.length, (n) => n + 1));
    expect(events.filter(({ type }) => type === "order.canceled")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      type: "order.canceled",
      data: { order: await readOrder(partner, id) },
    });
  });
});

describe("cancel against acceptance at the deadline: never both", () => {
  /** Each order was either canceled, with an event, or accepted, and the cancel was rejected. */
  async function expectOneWinner(ids: readonly string[], cancels: readonly Answer[]): Promise<void> {
    const stored = new Map(
      (await readStoredOrders(services.first, partner)).map((order) => [order.id, order]),
    );
    ids.forEach((id, n) => {
      const { status, body } = cancels[n] as Answer;
      const order = stored.get(id);
      if (status === 200) {
        expect(body.status).toBe("CANCELED");
        expect(order).toMatchObject({ status: "CANCELED", events: ["order.created", "order.canceled"] });
      } else {
        expect([status, body.orderStatus]).toEqual([409, "ACCEPTED"]);
        expect(order).toMatchObject({ status: "ACCEPTED", events: ["order.created"] });
      }
    });
  }

  it("when two clocks differ: one service still cancels what the other's worker already accepts", async () => {
    const connection = connectionKey(partner);
    for (let round = 0; round < 10; round += 1) {
      const orders = await Promise.all(times(20, () => placeOrder(partner)));
      const ids = orders.map(({ id }) => id);
      services.first.clock.advance({ hours: 2, ms: -1 }); // To this service's clock the window is open,
      services.second.clock.advance({ hours: 2 }); // and to this one's it has just closed.
      const [cancels] = await Promise.all([
        Promise.all(ids.map((id) => cancelOrder(partner, id))),
        ...times(6, () => acceptDueOrders(services.second.context, [connection], [])),
      ]);
      await acceptDueOrders(services.second.context, [connection], []);
      await expectOneWinner(ids, cancels);
      services.first.clock.advance({ ms: 1 });
    }
  });

  it("when the window closes during cancels", async () => {
    const connection = connectionKey(partner);
    for (let round = 0; round < 10; round += 1) {
      const orders = await Promise.all(times(30, () => placeOrder(partner)));
      const ids = orders.map(({ id }) => id);
      services.first.clock.advance({ hours: 2, ms: -1 });
      let answered = 0;
      const cancels = await Promise.all(
        ids.map(async (id, n) => {
          const answer = await cancelOrder(partner, id);
          answered += 1;
          if (answered === 10) services.first.clock.advance({ ms: 1 });
          if (n % 5 === 0) await acceptDueOrders(services.first.context, [connection], []);
          return answer;
        }),
      );
      while ((await acceptDueOrders(services.first.context, [connection], [])) > 0);
      await expectOneWinner(ids, cancels);
      expect(cancels.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10);
    }
  });
});

describe("a cancel that cannot have the lock of its order", () => {
  const waitingBriefly = (url: string) => {
    const pool = () =>
      openDatabase({ url, connectionsMax: 5, statementTimeoutMs: 200, onIdleError: () => undefined });
    return { calls: pool(), creations: pool(), lists: pool() };
  };

  it("is refused by what the deadline has decided, and is 503 before it, as it may still succeed", async () => {
    const test = await startServiceForTest({ partnerPools: waitingBriefly });
    const own = await createPartner(test);
    const { id } = await placeOrder(own);
    await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-lock-orders",
        text: "select id from orders where merchant_id = $1 for update",
        values: [connectionKey(own).merchantId],
      });
      expect(await cancelOrder(own, id)).toMatchObject({ status: 503 });
      test.clock.advance({ hours: 2 });
      expect(await cancelOrder(own, id)).toMatchObject({
        status: 409,
        body: { code: "order-not-cancelable", orderStatus: "ACCEPTED" },
      });
    });
    expect((await readOrder(own, id)).status).toBe("ACCEPTED");
  });
});
