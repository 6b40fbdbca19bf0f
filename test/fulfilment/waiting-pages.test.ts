import { beforeEach, describe, expect, it } from "vitest";
import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type WaitingPosition,
} from "../../src/orders/routing/waiting-orders-sql.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { acceptAll, routeAll, setStock } from "../support/facilities.ts";
import { copyOrder } from "../support/many-orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { openWaitingRoom, type WaitingRoom } from "../support/waiting.ts";
import { uuidIn } from "../support/webhooks.ts";

// Decision 0209.

const START: WaitingPosition = { merchantId: UUID_MIN, orderId: UUID_MIN };
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
    update orders set id = ('00000000' || substr(id::text, 9))::uuid where external_order_id like 'copy%'`);
  other = await createPartner(test);
  await setStock(test, facility, other.productIds[0], 0);
  await room.place(other, 1, { lines: [{ productId: other.productIds[0], quantity: 1 }] });
  await acceptAll(test);
  await routeAll(test);
  await test.db.runScript("analyze orders");
});

const supplyOf = ({ merchantId, productIds }: Partner) => [
  { merchantId: uuidIn("mer", merchantId), productId: productIds[0] ?? "", unitsMax: 1 },
];

const ordersRead = async (work: (db: Database) => Promise<unknown>): Promise<number> =>
  (await countRowsRead(room.test.db, work))("orders");

describe("orders that wait", () => {
  it("are not read for goods of another merchant", async () => {
    const count = await ordersRead((db) => listOrdersWaitingForProducts(db, START, supplyOf(other), 100));
    expect(count).toBeLessThanOrEqual(1 + LOOK_AHEAD);
  });

  const expectBounded = (count: number) => expect(count).toBeLessThanOrEqual(READ_MAX + LOOK_AHEAD);

  itOnPlainPostgres("Citus runs on PostgreSQL 15 here, which sorts them")(
    "are read 500 at a time for goods, also if none of them fits",
    async () => {
      const supplies = supplyOf(room.partner);
      expectBounded(await ordersRead((db) => listOrdersWaitingForProducts(db, START, supplies, 100)));
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
