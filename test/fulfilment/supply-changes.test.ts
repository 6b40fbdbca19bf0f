import { describe, expect, it } from "vitest";
import { clearSupplyChange, listSupplyChanges } from "../../src/fulfilment/routing/waiting-orders.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createExposedProduct } from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  expectStockAddsUp,
  putStock,
  readOperations,
  routeAll,
  setRates,
  setStock,
} from "../support/facilities.ts";
import type { TestService } from "../support/test-service.ts";
import { startSecondForTest } from "../support/two-services.ts";
import { openWaitingRoom } from "../support/waiting.ts";
import { uuidIn } from "../support/webhooks.ts";

describe("a supply change of stock", () => {
  it("stands after a crash in the middle, and what is left is done by the next worker", async () => {
    const { test, product, facility, placeWaiting, isRouted, holdsOf } = await openWaitingRoom();
    const ids = await placeWaiting(1, 1, 1);
    const victim = ids[1] ?? "";
    await setStock(test, facility, product, 3);
    await test.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin raise exception 'down'; end $$;
      create trigger reject before insert on stock_reservations for each row execute function reject();`);
    await expect(routeAll(test)).rejects.toThrow();
    expect(await listSupplyChanges(test.db)).toHaveLength(1);
    await test.db.runScript("drop trigger reject on stock_reservations");
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual([true, true, true]);
    expect(await holdsOf(victim)).toEqual([]);
    expect(await listSupplyChanges(test.db)).toEqual([]);
  });

  it("is not cleared because of an older one", async () => {
    const { test, product, facility } = await openWaitingRoom();
    await setStock(test, facility, product, 1);
    const [old] = (await listSupplyChanges(test.db)).filter(({ about }) => about === "stock");
    if (old === undefined) throw new Error("There is a supply change.");
    await setStock(test, facility, product, 2);
    await clearSupplyChange(test.db, old);
    expect((await listSupplyChanges(test.db)).filter(({ about }) => about === "stock")).toHaveLength(1);
  });

  it("that comes while an order finds nothing is never missed", async () => {
    const { test, partner, product, facility, place, isRouted } = await openWaitingRoom();
    await setStock(test, facility, product, 0);
    const id = await place(partner);
    await acceptAll(test);
    // Routing and the stock's arrival both wait for this lock, so that they come as close as can be.
    const both = await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-block-product",
        text: "select from stocked_products where merchant_id = $1 and product_id = $2 for update",
        values: [uuidIn("mer", partner.merchantId), product],
      });
      const routing = routeAll(test);
      await untilBlocked(test, 1);
      const arrival = putStock(test, facility, product, 1);
      await untilBlocked(test, 2);
      return [routing, arrival];
    });
    await Promise.all(both);
    await routeAll(test);
    expect(await isRouted(id)).toEqual([true]);
  });

  it("of several products goes to the oldest order first, whichever product came first", async () => {
    const { test, partner, product, facility, place, isRouted } = await openWaitingRoom();
    const other = partner.productIds[1];
    for (const each of [product, other]) await setStock(test, facility, each, 0);
    const older = await place(partner, 1, { lines: [{ productId: other, quantity: 1 }] });
    const both = [product, other].map((productId) => ({ productId, quantity: 1 }));
    const younger = await place(partner, 1, { lines: both });
    await acceptAll(test);
    await routeAll(test);
    for (const each of [product, other]) await setStock(test, facility, each, 1);
    await routeAll(test);
    expect(await isRouted(older, younger)).toEqual([true, false]);
    await expectStockAddsUp(test);
  });

  it("of many products is one pass through those that wait, not one for each", async () => {
    const { test, partner, product, facility, place, isRouted } = await openWaitingRoom();
    const products = [product, partner.productIds[1]];
    for (let count = 0; count < 8; count += 1)
      products.push(await createExposedProduct(test, partner.merchantId, partner.connectionId));
    for (const each of products) await setStock(test, facility, each, 0);
    const ids: string[] = [];
    for (const productId of products)
      ids.push(await place(partner, 1, { lines: [{ productId, quantity: 1 }] }));
    await acceptAll(test);
    await routeAll(test);
    for (const each of products) await setStock(test, facility, each, 1);
    // One product is available but not in sufficient quantity, so its supply change stays to the end without being used
    // up.
    await setStock(test, facility, partner.productIds[1], 2);
    const { context, names } = countStatements(test.context);
    expect(await routeAll({ context })).toBe(products.length);
    expect(names.filter((name) => name.startsWith("list-orders-waiting"))).toHaveLength(1);
    expect(await isRouted(...ids)).toEqual(ids.map(() => true));
    expect(await listSupplyChanges(test.db)).toEqual([]);
  });

  it("that arrives while an older one is processed is kept", async () => {
    const { test, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const ids = await placeWaiting(1, 2);
    await setStock(test, facility, product, 1);
    const both = await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-block-timeline",
        text: "lock table timeline_entries in share mode",
        values: [],
      });
      const routing = routeAll(test);
      await untilBlocked(test, 1);
      const arrival = putStock(test, facility, product, 3);
      await untilBlocked(test, 2);
      return [routing, arrival];
    });
    await Promise.all(both);
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual([true, true]);
  });

  it.each<[string, (test: TestService, facility: string) => Promise<unknown>]>([
    ["a facility gets rates", (test, facility) => setRates(test, facility, [aRate()])],
    ["a facility opens and gets rates", (test) => createFacility(test)],
  ])("of rates is never missed when %s while an order finds none", async (_title, bring) => {
    const { test, partner, facility, place, isRouted } = await openWaitingRoom();
    await setRates(test, facility, []);
    await routeAll(test);
    const id = await place(partner);
    await acceptAll(test);
    const other = await startSecondForTest(test);
    const all = await test.db.transaction(async (tx) => {
      // Routing writes the order's timeline last: it has decided by then, and has not committed.
      await tx.query({
        name: "test-block-timeline",
        text: "lock table timeline_entries in share mode",
        values: [],
      });
      const routing = routeAll(test);
      await untilBlocked(test, 1);
      const rates = bring(test, facility);
      await Promise.race([rates, untilBlocked(test, 2)]);
      await routeAll(other); // Another worker may learn of the supply change before the hold is stored.
      return [routing, rates];
    });
    await Promise.all(all);
    await routeAll(test);
    expect(await isRouted(id)).toEqual([true]);
  });

  it("of rates and of stock may come in any order, from any source, and causes no deadlock", async () => {
    const { test, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const ids = await placeWaiting(1, 1, 1, 1);
    const second = await startSecondForTest(test);
    for (let round = 1; round <= 5; round += 1)
      await Promise.all([
        setRates(test, facility, [aRate({ country: round % 2 === 0 ? "GB" : "FR" })]),
        putStock(second, facility, product, round % 3), // Rejected if it is less than the reserved quantity.
        createFacility(test),
        routeAll(test),
        routeAll(second),
      ]);
    await setRates(test, facility, [aRate()]);
    await setStock(test, facility, product, ids.length);
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual(ids.map(() => true));
    await expectStockAddsUp(test);
  });

  it("releases each order once, however many workers process it", async () => {
    const { test, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const ids = await placeWaiting(...Array.from({ length: 30 }, () => 1));
    await setStock(test, facility, product, 20);
    const second = await startSecondForTest(test);
    await Promise.all([routeAll(test), routeAll(second), routeAll(test), routeAll(second)]);
    expect(await isRouted(...ids)).toEqual(ids.map((_, index) => index < 20));
    for (const id of ids.slice(0, 20))
      expect(await readOperations(test, id)).toEqual(["accept", "addHold", "releaseHold", "route"]);
    await expectStockAddsUp(test);
  });
});
