import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  acceptAll,
  createFacility,
  expectStockAddsUp,
  readStock,
  routeAll,
  setStock,
} from "../support/facilities.ts";
import { histories } from "../support/histories.ts";
import { balanceOf, processDuePayments } from "../support/payments.ts";
import { readDetail, requestOperation } from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

/**
 * Random histories of orders of which units ship, are canceled, voided, returned and refunded, with several requests at the same
 * time. In every history the orders, the ledger, the statement and the stock agree, and no unit is refunded twice. The test is
 * written from the rules of "Canceled lines" and "Refunds" (docs/design), and not from the code.
 */
let test: TestService;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  facility = await createFacility(test);
});
afterAll(() => test.close());

const PRICE = 1_000;
const STOCK = 100;

/** `pick` chooses among what the order has at that moment. */
type Act = { order: number; pick: number; units: number };
type Command =
  | { name: "place"; quantities: [number, number] }
  | { name: "pay" }
  | { name: "advance" }
  | ({
      name: "ship" | "cancelLines" | "void" | "return" | "returnAndRefund" | "refundLine" | "refundAmount";
    } & Act)
  | ({ name: "complete" | "cancel" } & Act);

const act = { order: fc.nat(1), pick: fc.nat(7), units: fc.integer({ min: 1, max: 3 }) };
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant("place" as const),
      quantities: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(3)),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom<Command>({ name: "pay" }, { name: "advance" }) },
  {
    weight: 9,
    arbitrary: fc.record({
      name: fc.constantFrom("ship" as const, "cancelLines" as const, "cancelLines" as const, "void" as const),
      ...act,
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      name: fc.constantFrom(
        ...([
          "return",
          "returnAndRefund",
          "refundLine",
          "refundLine",
          "refundAmount",
        ] as const satisfies Command["name"][]),
      ),
      ...act,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constantFrom("complete" as const, "cancel" as const), ...act }),
  },
);

type World = { partner: Partner; orders: string[] };
let references = 0;
const newReference = () => {
  references += 1;
  return `model-${references}`;
};

/** What the state of the order forbids is rejected; this test is not about that. Nothing else may fail. */
async function execute(world: World, command: Command): Promise<void> {
  const { partner, orders } = world;
  if (command.name === "pay") return void (await processDuePayments(test));
  if (command.name === "advance") {
    await acceptAll(test);
    return void (await routeAll(test));
  }
  if (command.name === "place") {
    if (orders.length === 2) return;
    const lines = command.quantities.flatMap((quantity, index) =>
      quantity === 0 ? [] : { productId: partner.productIds[index], quantity },
    );
    return void orders.push((await placeOrder(partner, { lines })).id);
  }
  const id = orders[command.order % Math.max(1, orders.length)];
  if (id === undefined) return;
  const { status, body } = await request(id, command, await readDetail(test, id));
  expect([200, 201, 404, 409, 422], JSON.stringify(body)).toContain(status);
}

async function request(
  id: string,
  { name, pick, units }: Extract<Command, Act>,
  order: Detail,
): Promise<Answer> {
  const open = order.lines.filter(
    ({ shipmentId, canceledQuantity }) => shipmentId === null && canceledQuantity === 0,
  );
  const anyLine = order.lines[pick % order.lines.length];
  const line = open[pick % Math.max(1, open.length)] ?? anyLine;
  const lines = [{ lineId: line?.id, quantity: Math.min(units, line?.quantity ?? 1) }];
  const reference = newReference();
  const operation = (path: string, body: object = {}) => requestOperation(test, id, path, body);
  switch (name) {
    case "ship":
      return operation("ship", pick > 5 ? {} : { lines });
    case "cancelLines": {
      const all = open.map((each) => ({ lineId: each.id, quantity: each.quantity }));
      return operation("cancel-lines", { lines: pick > 5 ? all : lines, reason: "other", reference });
    }
    case "void": {
      const shipment = order.shipments[pick % Math.max(1, order.shipments.length)];
      return test.backOffice.post(`/api/shipments/${shipment?.id}/void`, {});
    }
    case "return":
    case "returnAndRefund": {
      const refund = name === "returnAndRefund" ? { refund: { reference } } : {};
      const out = order.lines.filter(
        (each) => each.shipmentId !== null && each.returnedQuantity < each.quantity,
      );
      const part = out[pick % Math.max(1, out.length)] ?? anyLine;
      const back = { lines: [{ lineId: part?.id, quantity: Math.min(units, part?.quantity ?? 1) }] };
      return operation("return", { ...back, reference, ...refund });
    }
    case "refundLine":
      return operation("refund", {
        ...{ lines, reason: "goodwill", reference },
      });
    case "refundAmount":
      return operation("refund", { amount: eur(units * 700), reason: "goodwill", reference });
    case "complete":
    case "cancel":
      return operation(name);
    default:
      return name satisfies never;
  }
}

const eur = (minor: number) => ({ amount: (minor / 100).toFixed(2), currency: "EUR" });
const minorOf = ({ amount }: { amount: string }) => Math.round(Number(amount) * 100);

type Detail = {
  status: string;
  routedAt: string | null;
  lines: {
    id: string;
    productId: string;
    quantity: number;
    canceledQuantity: number;
    returnedQuantity: number;
    shipmentId: string | null;
  }[];
  shipments: { id: string; status: string }[];
  charges: {
    id: string;
    kind: string;
    status: string;
    amount: { amount: string };
    refundOf: string | null;
  }[];
  refunds: {
    id: string;
    amount: { amount: string };
    reason: string;
    lines: { lineId: string; quantity: number }[];
  }[];
  cancellations: { lineIds: string[]; refundId: string | null }[];
};

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

function expectOrderAddsUp({ status, lines, charges, refunds, cancellations }: Detail): void {
  for (const line of lines) {
    if (line.canceledQuantity > 0)
      expect(line).toMatchObject({ shipmentId: null, canceledQuantity: line.quantity });
    expect(line.returnedQuantity).toBeLessThanOrEqual(line.shipmentId === null ? 0 : line.quantity);
  }
  const isOpen = (line: Detail["lines"][number]) => line.shipmentId === null && line.canceledQuantity === 0;
  if (status === "COMPLETED") expect(lines.some(isOpen)).toBe(false);
  expect(cancellations.flatMap(({ lineIds }) => lineIds).toSorted()).toEqual(
    lines.flatMap(({ id, canceledQuantity }) => (canceledQuantity > 0 ? [id] : [])).toSorted(),
  );
  // No charge is returned beyond itself, and no unit is refunded twice.
  for (const charge of charges.filter(({ kind }) => kind !== "refund")) {
    const back = charges.filter(({ refundOf, status }) => refundOf === charge.id && status !== "canceled");
    const returned = sum(back, ({ amount }) => minorOf(amount));
    expect(returned).toBeLessThanOrEqual(charge.status === "succeeded" ? minorOf(charge.amount) : 0);
  }
  const productOf = new Map(lines.map(({ id, productId }) => [id, productId]));
  const refunded = refunds.flatMap((refund) => refund.lines);
  for (const product of new Set(productOf.values())) {
    const ordered = lines.filter(({ productId }) => productId === product);
    const back = refunded.filter(({ lineId }) => productOf.get(lineId) === product);
    expect(sum(back, ({ quantity }) => quantity)).toBeLessThanOrEqual(
      sum(ordered, ({ quantity }) => quantity),
    );
  }
  // What was canceled is refunded exactly, unless something else was refunded too.
  const others = refunds.filter(({ reason }) => reason !== "canceled");
  const goods = charges.find(({ kind, status: paid }) => kind === "goods" && paid === "succeeded");
  if (others.length === 0 && goods !== undefined)
    expect(sum(refunds, ({ amount }) => minorOf(amount))).toBe(
      PRICE * sum(lines, (line) => line.canceledQuantity),
    );
}

/** Orders and stock, and in the end also all money. */
async function expectAllAgrees({ partner, orders }: World, isEnd: boolean): Promise<void> {
  await expectStockAddsUp(test);
  const details: Detail[] = await Promise.all(orders.map((id) => readDetail(test, id)));
  for (const order of details) expectOrderAddsUp(order);
  const [product] = partner.productIds;
  const stocked = details.flatMap(({ status, routedAt, lines }) =>
    lines.filter(({ productId }) => productId === product).map((line) => ({ ...line, status, routedAt })),
  );
  const gone = sum(stocked, ({ quantity, shipmentId }) => (shipmentId === null ? 0 : quantity));
  const kept = sum(stocked, ({ quantity, shipmentId, canceledQuantity, status, routedAt }) =>
    routedAt !== null &&
    ["ACCEPTED", "IN_PROGRESS"].includes(status) &&
    shipmentId === null &&
    canceledQuantity === 0
      ? quantity
      : 0,
  );
  expect(await readStock(test, facility, product)).toEqual({ onHand: STOCK - gone, reserved: kept });
  const [moved] = await test.db.query<{ difference: number }>({
    name: "test-sum-of-movements",
    text: "select coalesce(sum(difference), 0)::integer as difference from stock_movements where product_id = $1",
    values: [product],
  });
  expect(moved?.difference).toBe(STOCK - gone);
  if (!isEnd) return;
  const charges = details.flatMap((order) => order.charges).filter(({ status }) => status === "succeeded");
  const owed = sum(charges, ({ kind, amount }) => (kind === "refund" ? 1 : -1) * minorOf(amount));
  expect(await balanceOf(test, partner)).toBe(BigInt(owed));
  test.clock.advance({ minutes: 1 }); // What is booked at the end of a period is not in it.
  const period = "from=2026-01-01T00:00:00Z&limit=100";
  const statement = await test.backOffice.get(`/api/merchants/${partner.merchantId}/statement?${period}`);
  expect(statement.status, JSON.stringify(statement.body)).toBe(200);
  const booked = statement.body.data.map(({ amount }: { amount: { amount: string } }) => minorOf(amount));
  expect(sum(booked, Number)).toBe(owed);
  for (const { status, charges: own } of details)
    if (status === "CANCELED")
      expect(
        sum(
          own.filter((each) => each.status === "succeeded"),
          ({ kind, amount }) => (kind === "refund" ? -1 : 1) * minorOf(amount),
        ),
      ).toBe(0);
}

describe("orders that are closed short, by random histories with several requests at the same time", () => {
  it("agree with ledger, statement and stock, and refund nothing twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.integer({ min: 2, max: 6 }), fc.nat(3)),
        fc.array(fc.array(anyCommand, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 9 }),
        async (quantities, rounds) => {
          const partner = await createPartner(test);
          await setStock(test, facility, partner.productIds[0], STOCK);
          const world: World = { partner, orders: [] };
          await execute(world, { name: "place", quantities });
          await execute(world, { name: "pay" });
          await execute(world, { name: "advance" });
          for (const together of rounds) {
            await Promise.all(together.map((command) => execute(world, command)));
            await expectAllAgrees(world, false);
          }
          for (let times = 0; times < 3; times += 1) await processDuePayments(test);
          await expectAllAgrees(world, true);
        },
      ),
      histories({ change: 10, release: 30 }),
    );
  }, 300_000); // Long enough to find the shortest history that fails.
});
