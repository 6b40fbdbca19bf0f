import { beforeEach, describe, expect, it } from "vitest";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { countStatements, statementsOfBatch } from "../support/counted-statements.ts";
import { acceptAll, createFacility, expectStockAddsUp, routeAll, setStock } from "../support/facilities.ts";
import { createSmallPartners } from "../support/many-orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// docs/design/database.md, "Shared batches", for routing: the orders of a batch belong to many merchants, each with its own
// stock.

const CONNECTIONS = 30;

let test: TestService;
let facility: string;
beforeEach(async () => {
  test = await startServiceForTest();
  facility = await createFacility(test);
});

async function routeAndCount(): Promise<readonly string[]> {
  const { context, names } = countStatements(test.context);
  await routeAll({ context });
  return statementsOfBatch(names);
}

const stockFirstProduct = async (partners: readonly Partner[], onHand: number): Promise<void> => {
  for (const { productIds } of partners) await setStock(test, facility, productIds[0] ?? "", onHand);
};

async function routedCount(): Promise<number> {
  const rows = await test.db.query({
    name: "test-routed",
    text: "select from orders where facility_id is not null",
    values: [],
  });
  return rows.length;
}

describe("routing for many small connections", () => {
  it("takes as many statements as for one, and reserves the stock of each merchant", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 2);
    await stockFirstProduct(partners, 5);
    await acceptAll(test);
    await routeAll(test); // Evaluates the supply changes.
    expect(await routedCount()).toBe(2 * CONNECTIONS);
    await expectStockAddsUp(test);
    await Promise.all(partners.map((partner) => placeOrder(partner)));
    await acceptAll(test);
    const many = await routeAndCount();
    const [one] = partners;
    if (one !== undefined) await placeOrder(one);
    await acceptAll(test);
    expect(many).toEqual(await routeAndCount());
    expect(await routedCount()).toBe(3 * CONNECTIONS + 1);
    await expectStockAddsUp(test);
  });

  it("releases waiting orders of many merchants with as many statements as those of one", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 0);
    await stockFirstProduct(partners, 0);
    await Promise.all(partners.map((partner) => placeOrder(partner)));
    await acceptAll(test);
    await routeAll(test);
    expect(await routedCount()).toBe(0);
    await stockFirstProduct(partners, 1);
    const names = await routeAndCount();
    expect(await routedCount()).toBe(CONNECTIONS);
    expect(names.filter((name) => name === "lock-stock")).toHaveLength(1);
    await expectStockAddsUp(test);
  });

  it("leaves an order that cannot be stored behind", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 1);
    await stockFirstProduct(partners, 5);
    const last = await createPartner(test);
    const { id } = await placeOrder(last);
    await acceptAll(test);
    const repair = await blockOrderChanges(test, id);
    await expect(routeAll(test)).rejects.toThrow(/1 batches or items/);
    expect(await routedCount()).toBe(CONNECTIONS);
    await repair();
    await routeAll(test);
    expect(await routedCount()).toBe(CONNECTIONS + 1);
    await expectStockAddsUp(test);
  });
});
