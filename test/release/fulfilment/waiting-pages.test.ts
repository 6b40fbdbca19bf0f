import { beforeEach, describe, expect, it } from "vitest";
import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type WaitingPosition,
} from "../../../src/orders/routing-sql.ts";
import type { Database, Queryable } from "../../../src/platform/database/database.ts";
import { UUID_MAX, UUID_MIN } from "../../../src/platform/wire/cursor.ts";
import { createPartner, type Partner } from "../../support/builders.ts";
import { acceptAll, routeAll, setStock } from "../../support/facilities.ts";
import { copyOrder } from "../../support/many-orders.ts";
import { itOnPlainPostgres } from "../../support/plain-postgres.ts";
import { countRowsRead, LOOK_AHEAD } from "../../support/rows-read.ts";
import { openWaitingRoom, type WaitingRoom } from "../../support/waiting.ts";
import { uuidIn } from "../../support/webhooks.ts";

// See docs/design/fulfilment.md, "Waiting orders".

const START: WaitingPosition = { merchantId: UUID_MIN, orderId: UUID_MIN };
const fromStart = ({ merchantId }: Partner) => ({ merchantId: uuidIn("mer", merchantId), afterId: UUID_MIN });
const READ_MAX = 500;

let room: WaitingRoom;
/** The only order of the partner that can be routed. All others wait before it, and have no line. */
let last: string;
let other: Partner;
beforeEach(async () => {
  room = await openWaitingRoom();
  const { test, facility } = room;
  last = (await room.placeWaiting(1))[0] ?? "";
  await copyOrder(test, room.partner, 3 * READ_MAX);
  await test.db.runScript(`
    update orders o set id = ('00000000' || substr(id::text, 9))::uuid
    from order_requests r where r.order_id = o.id and r.external_order_id like 'copy%';
    update order_requests set order_id = ('00000000' || substr(order_id::text, 9))::uuid where external_order_id like 'copy%'`);
  other = await createPartner(test);
  await setStock(test, facility, other.productIds[0], 0);
  await room.place(other, 1, { lines: [{ productId: other.productIds[0], quantity: 1 }] });
  await acceptAll(test);
  await routeAll(test);
  await test.db.runScript("analyze orders");
});

const listFitting = (db: Database, partners: readonly Partner[], limit = 100) =>
  listOrdersWaitingForProducts(
    db,
    partners.map(fromStart),
    partners.map(({ productIds }) => ({ productId: productIds[0] ?? "", unitsMax: 1 })),
    limit,
  );

const ordersRead = async (work: (db: Database) => Promise<unknown>): Promise<number> =>
  (await countRowsRead(room.test.db, work))("orders");

/** How many blocks a statement reads: those of its indexes too. */
async function blocksRead(work: (db: Database) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const counted: Database = {
    ...room.test.db,
    transaction: (inTransaction) =>
      room.test.db.transaction((tx) => inTransaction({ ...tx, query: explained(tx) })),
  };
  const explained =
    (tx: Queryable): Queryable["query"] =>
    async ({ name, text, values }) => {
      if (text.startsWith("set local")) return tx.query({ name, text, values });
      const explain = {
        name: "test-blocks",
        text: `explain (analyze, buffers, format json) ${text}`,
        values,
      };
      const [row] = await tx.query<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(explain);
      const plan = row?.["QUERY PLAN"][0]?.Plan ?? {};
      blocks += (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
      return [];
    };
  await work(counted);
  return blocks;
}

describe("orders that wait", () => {
  it("are not read for goods of another merchant", async () => {
    const count = await ordersRead((db) => listFitting(db, [other]));
    expect(count).toBeLessThanOrEqual(1 + LOOK_AHEAD);
  });

  const expectBounded = (count: number) => expect(count).toBeLessThanOrEqual(READ_MAX + LOOK_AHEAD);

  it("are read 500 at a time for goods of several merchants, also if none of them fits", async () => {
    expectBounded(await ordersRead((db) => listFitting(db, [room.partner])));
    expectBounded(await ordersRead((db) => listFitting(db, [room.partner, other])));
  });

  itOnPlainPostgres("The coordinator does not count the blocks of the nodes")(
    "are read from where the page before ended, without those before it",
    async () => {
      await copyOrder(room.test, other, 20 * READ_MAX);
      await room.test.db.runScript("analyze orders");
      const atEnd = [room.partner, other].map((partner) => ({ ...fromStart(partner), afterId: UUID_MAX }));
      const blocks = await blocksRead((db) => listOrdersWaitingForProducts(db, atEnd, [], 100));
      expect(blocks).toBeLessThan(20);
    },
  );

  it("are read 500 at a time for rates, also if none of them fits", async () => {
    expectBounded(await ordersRead((db) => listOrdersWaitingForCountries(db, START, ["AQ"], 100)));
  });

  it("are released behind any number of others that do not fit", async () => {
    const { test, facility, product, isRouted } = room;
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await isRouted(last)).toEqual([true]);
  });
});
