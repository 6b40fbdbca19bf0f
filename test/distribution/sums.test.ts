import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectPublishedOnce, paidFor } from "../support/agreeing-orders.ts";
import { type Partner, placeOrder } from "../support/builders.ts";
import { createFacility, expectStockAddsUp, readStock, setStock } from "../support/facilities.ts";
import { readFeedPage } from "../support/feed.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder } from "../support/orders.ts";
import { balanceOf, payIn, setCreditLimit } from "../support/payments.ts";
import { readDetail, requestOperation } from "../support/real-orders.ts";
import type { TestService } from "../support/test-service.ts";
import { startTwoServices, type TwoServices, times } from "../support/two-services.ts";

/**
 * Two services work on orders of several merchants through several facilities, all at the same time. Then the books are
 * compared: stock with what was shipped and restocked, accounts with what was charged and refunded.
 */
let services: TwoServices;
beforeAll(async () => {
  services = await startTwoServices();
});
afterAll(() => services.close());

const JOBS = [
  "accept-orders",
  "route-orders",
  "retry-declined-charges",
  "process-payments",
  "complete-shipped-orders",
];
const MERCHANTS = 3;
const ROUNDS = 5;
const IN_STOCK = 8;
const PAID_IN = 10_000n;

type Detail = Awaited<ReturnType<typeof readDetail>>;
type Line = { id: string; productId: string; quantity: number; shipmentId: string | null };
type World = {
  partners: Partner[];
  facilities: string[];
  orders: { id: string; partner: Partner }[];
  /** Shipments whose goods are in stock again. */
  restocked: Set<string>;
};

async function startWorld(): Promise<World> {
  const { first } = services;
  const facilities = [await createFacility(first), await createFacility(first), await createFacility(first)];
  const partners: Partner[] = [];
  for (const _ of times(MERCHANTS, () => null)) {
    const partner = await services.nextPartner();
    await setCreditLimit(first, partner, 5_000n); // So that charges are declined, too.
    await payIn(first, partner, "100.00");
    for (const facility of facilities)
      for (const productId of partner.productIds) await setStock(first, facility, productId, IN_STOCK);
    partners.push(partner);
  }
  return { partners, facilities, orders: [], restocked: new Set() };
}

const anyRound = fc.record({
  quantities: fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 })), {
    minLength: 2 * MERCHANTS,
    maxLength: 3 * MERCHANTS,
  }),
  acts: fc.array(
    fc.record({
      act: fc.constantFrom(
        ...([
          "cancel",
          "cancel in the back office",
          "ship",
          "ship",
          "ship a line",
          "return",
          "return",
          "retry",
        ] as const),
      ),
      order: fc.nat(),
    }),
    { minLength: 25, maxLength: 30, size: "max" },
  ),
});
type Round = typeof anyRound extends fc.Arbitrary<infer R> ? R : never;
type Act = Round["acts"][number];

/** Everything at the same time, by both services. */
async function execute(world: World, { quantities, acts }: Round): Promise<void> {
  const { first, second } = services;
  const existing = [...world.orders];
  await Promise.all([
    ...quantities.map(([one, other], at) => place(world, at, one, other)),
    ...acts.map((act, at) => carryOut(world, existing, act, at % 2 === 0 ? first : second)),
    ...JOBS.flatMap((job) => [runJob(first, job), runJob(second, job)]),
  ]);
}

async function place(world: World, at: number, one: number, other: number): Promise<void> {
  const partner = world.partners[at % MERCHANTS];
  if (partner === undefined) return;
  const client = at % 2 === 0 ? partner.client : services.second.partner(partner.key);
  const lines = [
    { productId: partner.productIds[0], quantity: one },
    { productId: partner.productIds[1], quantity: other },
  ];
  world.orders.push({ id: (await placeOrder({ ...partner, client }, { lines })).id, partner });
}

/** What the state of the order forbids is rejected. Nothing may fail. */
async function carryOut(
  { restocked }: World,
  orders: World["orders"],
  { act, order: number }: Act,
  test: TestService,
): Promise<void> {
  const order = orders[number % Math.max(1, orders.length)];
  if (order === undefined) return;
  const { id, partner } = order;
  const { lines, shipments }: { lines: Line[]; shipments: { id: string }[] } = await readDetail(test, id);
  const request = async (operation: string, body: object = {}) => {
    const { status } = await requestOperation(test, id, operation, body);
    expect([200, 409], operation).toContain(status);
    return status;
  };
  if (act === "cancel") {
    const client = test.partner(partner.key);
    expect([200, 409]).toContain((await cancelOrder({ ...partner, client }, id)).status);
  } else if (act === "cancel in the back office") await request("cancel");
  else if (act === "ship") await request("ship");
  else if (act === "ship a line") await request("ship", { lineIds: [lines[number % 2]?.id] });
  else if (act === "retry") await request("retry-payment");
  else {
    const shipmentId = shipments.at(-1)?.id;
    if (shipmentId === undefined) return;
    const restock = number % 2 === 0;
    if ((await request("return", { shipmentId, restock })) === 200 && restock) restocked.add(shipmentId);
  }
}

/** Both workers run until there is nothing left to do now. */
async function workOff(): Promise<void> {
  for (;;) {
    const { first, second } = services;
    const done = await Promise.all(JOBS.flatMap((job) => [runJob(first, job), runJob(second, job)]));
    if (done.every((count) => count === 0)) return;
  }
}

const quantityOf = (lines: readonly Line[]): number => lines.reduce((sum, { quantity }) => sum + quantity, 0);

async function expectStock({ partners, facilities, restocked }: World, details: Detail[]): Promise<void> {
  await expectStockAddsUp(services.first);
  for (const facility of facilities)
    for (const productId of partners.flatMap((partner) => partner.productIds)) {
      const routed = details.filter(({ facilityId }) => facilityId === facility);
      const linesOf = (orders: Detail[]): Line[] =>
        orders.flatMap(({ lines }) => lines.filter((line: Line) => line.productId === productId));
      const gone = linesOf(routed).filter(
        ({ shipmentId }) => shipmentId !== null && !restocked.has(shipmentId),
      );
      const live = routed.filter(({ status }) => ["ACCEPTED", "IN_PROGRESS"].includes(status));
      const kept = linesOf(live).filter(({ shipmentId }) => shipmentId === null);
      expect(await readStock(services.first, facility, productId)).toEqual({
        onHand: IN_STOCK - quantityOf(gone),
        reserved: quantityOf(kept),
      });
    }
}

/** The balance of each account, the sum of its entries, and what is paid for its orders, are one amount. */
async function expectAccounts({ partners, orders }: World, details: Detail[]): Promise<void> {
  for (const partner of partners) {
    const own = details.filter((_, at) => orders[at]?.partner === partner);
    const spent = own.reduce((sum, detail) => sum + paidFor(detail), 0n);
    expect(await balanceOf(services.first, partner)).toBe(PAID_IN - spent);
  }
  const entries = await services.first.db.query({
    name: "test-accounts-that-do-not-add-up",
    text: `
      select a.merchant_id
      from merchant_accounts a
      join account_entries e on e.merchant_id = a.merchant_id
      group by a.merchant_id, a.balance_minor
      having a.balance_minor <> sum(e.amount_minor)`,
    values: [],
  });
  expect(entries).toEqual([]);
}

/** Without these the sums would say little. */
function expectAllHappened({ restocked }: World, details: Detail[]): void {
  const statuses = details.map(({ status }) => status);
  expect(statuses).toEqual(expect.arrayContaining(["CANCELED", "RETURNED"]));
  const charges = details.flatMap((detail) =>
    detail.charges.map((charge: { kind: string; status: string }) => `${charge.kind} ${charge.status}`),
  );
  expect(charges).toEqual(
    expect.arrayContaining(["goods succeeded", "shipping succeeded", "refund succeeded", "goods failed"]),
  );
  const routes = details.flatMap(({ facilityId }) => facilityId ?? []);
  expect(new Set(routes).size).toBeGreaterThan(1);
  expect(restocked.size).toBeGreaterThan(0);
}

it("stock, accounts and events agree after two services have worked on orders of several merchants at once", async () => {
  const world = await startWorld();
  for (const round of fc.sample(anyRound, ROUNDS)) {
    await execute(world, round);
    services.first.clock.advance({ minutes: 121 });
    services.second.clock.advance({ minutes: 121 });
  }
  await workOff();
  const details = await Promise.all(world.orders.map(({ id }) => readDetail(services.first, id)));
  expectAllHappened(world, details);
  await expectStock(world, details);
  await expectAccounts(world, details);
  for (const [at, { partner }] of world.orders.entries())
    expectPublishedOnce(
      (await readFeedPage(partner, `?orderId=${details[at].id}&limit=100`)).data,
      details[at],
    );
});
