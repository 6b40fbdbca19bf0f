import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  createSibling,
  expectStockAddsUp,
  putStock,
  readRoutes,
  readStock,
  routeAll,
  setRates,
  setStock,
  ship,
  takeBack,
} from "../support/facilities.ts";
import { histories } from "../support/histories.ts";
import { readOrder, transitionOrder } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/**
 * Random histories of stock, rates and orders, with two workers and two connections, and groups of operations at the
 * same time. In every history nothing is promised twice, no unit is created or lost, and in the end no order waits for
 * goods that are available.
 */
type Command =
  | { name: "place"; by: number; quantities: [number, number] }
  | { name: "stock"; facility: number; product: number; onHand: number }
  | { name: "rates"; facility: number; open: boolean }
  | {
      name: "cancel" | "ship" | "shipOne" | "return" | "restock" | "holdByHand" | "releaseByHand";
      order: number;
    }
  | { name: "route"; worker: number };

const index = (max: number) => fc.nat(max - 1);
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant("place" as const),
      by: index(2),
      quantities: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(2)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant("stock" as const),
      facility: index(2),
      product: index(2),
      onHand: fc.nat(6),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constant("rates" as const), facility: index(2), open: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom(
        ...(["cancel", "ship", "shipOne", "return", "restock", "holdByHand", "releaseByHand"] as const),
      ),
      order: index(6),
    }),
  },
  { weight: 3, arbitrary: fc.record({ name: fc.constant("route" as const), worker: index(2) }) },
);

type World = {
  services: [TestService, TestService];
  partners: [Partner, Partner];
  facilities: string[];
  orders: { id: string; by: Partner }[];
};

async function startWorld(test: TestService, second: TestService): Promise<World> {
  const partner = await createPartner(test);
  const world: World = {
    services: [test, second],
    partners: [partner, await createSibling(test, partner)],
    facilities: [await createFacility(test), await createFacility(test, { countryCode: "DE" })],
    orders: [],
  };
  // The first product is stocked from the beginning, the second from its first record on.
  await setStock(test, world.facilities[0] ?? "", partner.productIds[0], 3);
  return world;
}

/** Transitions that the order's state forbids are rejected; this test is not about them. */
async function execute({ services, partners, facilities, orders }: World, command: Command): Promise<void> {
  const [test] = services;
  if (command.name === "route") {
    await routeAll(services[command.worker] ?? test);
    return;
  }
  if (command.name === "place") {
    const by = partners[command.by] ?? partners[0];
    const lines = command.quantities.flatMap((quantity, at) =>
      quantity === 0 ? [] : { productId: by.productIds[at], quantity },
    );
    orders.push({ id: (await placeOrder(by, { lines })).id, by });
    await acceptAll(test);
    return;
  }
  if (command.name === "stock") {
    const product = partners[0].productIds[command.product] ?? "";
    expect([200, 422]).toContain(
      (await putStock(test, facilities[command.facility] ?? "", product, command.onHand)).status,
    );
    return;
  }
  if (command.name === "rates")
    return setRates(test, facilities[command.facility] ?? "", command.open ? [aRate()] : []);
  const order = orders[command.order % Math.max(1, orders.length)];
  if (order === undefined) return;
  await act(test, order, command.name).catch(rejectedOnly);
}

const rejectedOnly = (error: unknown): void => {
  if (!/outcome|rejected/.test(String(error))) throw error;
};

async function act(
  test: TestService,
  { id, by }: World["orders"][number],
  name: Extract<Command, { order: number }>["name"],
): Promise<void> {
  switch (name) {
    case "cancel":
      return transitionOrder(test, by, id, { name: "cancel" });
    case "ship":
      return ship(test, by, id);
    case "shipOne":
      return ship(test, by, id, [0]);
    case "return":
      return takeBack(test, by, id, false);
    case "restock":
      return takeBack(test, by, id, true);
    case "holdByHand":
      return transitionOrder(test, by, id, { name: "hold", reasons: ["merchant_request"] });
    case "releaseByHand":
      return transitionOrder(test, by, id, { name: "releaseHold" });
    default:
      return name satisfies never;
  }
}

/** Routed orders that are under way have their stocked lines kept, but for those routed before the product was stocked. */
async function expectNoOrderWaitsInVain({
  services: [test],
  orders,
  facilities,
  partners,
}: World): Promise<void> {
  await routeAll(test);
  await expectStockAddsUp(test);
  const routes = await readRoutes(
    test,
    orders.map(({ id }) => id),
  );
  for (const [at, { id, by }] of orders.entries()) {
    const order = await readOrder(by, id);
    if (order.status !== "ACCEPTED" || routes[at]?.routedAt !== null) continue;
    const waitsFor = order.onHoldReasons.filter((reason: string) => reason !== "merchant_request");
    expect(waitsFor, "an unrouted order is held by routing").toHaveLength(1);
    for (const facility of facilities) {
      const priced = (await test.backOffice.get(`/api/facilities/${facility}/rates`)).body.rates.length > 0;
      const there = await hasAll(test, facility, partners[0].productIds, order.lines);
      expect(priced && there, "a facility could send a waiting order").toBe(false);
    }
  }
}

async function hasAll(
  test: TestService,
  facility: string,
  productIds: readonly string[],
  lines: { productId: string; quantity: number }[],
): Promise<boolean> {
  for (const productId of productIds) {
    const wanted = lines.filter((line) => line.productId === productId);
    const [row] = await test.db.query<{ stocked: boolean }>({
      name: "test-is-stocked",
      text: "select exists (select 1 from stocked_products where product_id = $1) as stocked",
      values: [productId],
    });
    if (wanted.length === 0 || row?.stocked !== true) continue;
    const path = `/api/facilities/${facility}/stock/${productId}`;
    const { status } = await test.backOffice.get(path);
    if (status === 404) return false;
    const { onHand, reserved } = await readStock(test, facility, productId);
    if (onHand - reserved < wanted.reduce((sum, { quantity }) => sum + quantity, 0)) return false;
  }
  return true;
}

describe("stock, by random histories with several operations at the same time", () => {
  it("is never reserved twice, and no order waits for available goods", async () => {
    const test = await startTestService();
    const second = await startTestService({ databaseUrl: test.context.config.databaseUrl ?? "" });
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyCommand, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
          async (rounds) => {
            const world = await startWorld(test, second);
            for (const together of rounds) {
              await Promise.all(together.map((command) => execute(world, command)));
              await expectStockAddsUp(test);
            }
            await expectNoOrderWaitsInVain(world);
            // The next history has facilities of its own: those of this one send nothing any more.
            for (const facility of world.facilities) await setRates(test, facility, []);
          },
        ),
        histories({ change: 8, release: 30 }),
      );
    } finally {
      await Promise.all([test.close(), second.close()]);
    }
  }, 300_000); // Long enough to find the shortest history that fails.
});
