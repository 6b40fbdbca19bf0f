import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClaimedPayment } from "../../src/ledger/due-payments-sql.ts";
import type { LedgerEntry } from "../../src/ledger/ledger.ts";
import { accountGateway } from "../../src/payments/account/account.ts";
import { processPayments } from "../../src/payments/process-payments.ts";
import type { Gateway, GatewayResponse } from "../../src/payments/record-responses.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { histories } from "../support/histories.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  ledgerOf,
  payIn,
  processDuePayments,
  readDuePayments,
  retry,
  setCreditLimit,
} from "../support/payments.ts";
import { readDetail } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/**
 * Random histories of orders, payments, cancels, lost responses and killed workers. In every history the books agree
 * with the gateway's. The test is written from the rules of money, and not from the code.
 */
let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: { paymentRetryMs: [3_600_000, 7_200_000] } });
});
afterAll(() => test.close());

const PRICE = 1_000n;

type Command =
  | { name: "place" | "process" | "twoWorkers" | "accept" }
  | { name: "cancel" | "retry" | "cancelWhileProcessing"; order: number }
  | { name: "refund" | "refundTwice" | "refundAndCancel"; order: number; amount: string | null }
  | { name: "advance"; seconds: number }
  | { name: "limit"; orders: number | null }
  | { name: "payIn" }
  | { name: "die"; statement: number; applied: boolean }
  | { name: "lose"; afterwards: boolean };

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<Command>({ name: "place" }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Command>({ name: "process" }, { name: "twoWorkers" }, { name: "accept" }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom("cancel" as const, "retry" as const, "cancelWhileProcessing" as const),
      order: fc.nat(5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constantFrom("refund" as const, "refundTwice" as const, "refundAndCancel" as const),
      order: fc.nat(5),
      amount: fc.constantFrom(null, "0.01", "4.00", "9.99", "10.00"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant("advance" as const),
      seconds: fc.constantFrom(5, 61, 600, 3_600, 7_200),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constant("limit" as const), orders: fc.option(fc.nat(3)) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ name: "payIn" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant("die" as const),
      statement: fc.integer({ min: 1, max: 6 }),
      applied: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ name: fc.constant("lose" as const), afterwards: fc.boolean() }) },
);

type World = { partner: Partner; orders: string[]; paidIn: bigint };

/** The real gateway, of which every second response is lost: before it has done anything, or after. */
function losing(gateway: Gateway, afterwards: boolean): Gateway {
  let calls = 0;
  const lossy =
    (ask: (payment: ClaimedPayment) => Promise<GatewayResponse>) => async (payment: ClaimedPayment) => {
      calls += 1;
      const isLost = calls % 2 === 1;
      if (isLost && !afterwards) throw new Error("The request was lost.");
      const answer = await ask(payment);
      if (isLost) throw new Error("The response was lost.");
      return answer;
    };
  return { ...gateway, charge: lossy(gateway.charge), refund: lossy(gateway.refund) };
}

const dying = (statement: number, applied: boolean): WebhookContext => ({
  ...test.context,
  db: dyingDatabase(test.context.db, statement, applied),
});

async function execute(world: World, command: Command): Promise<void> {
  const { partner, orders } = world;
  const named = "order" in command ? orders[command.order % Math.max(1, orders.length)] : undefined;
  switch (command.name) {
    case "place":
      orders.push((await placeOrder(partner)).id);
      return;
    case "process":
      await processDuePayments(test);
      return;
    case "twoWorkers":
      await Promise.all([processDuePayments(test), processDuePayments(test)]);
      return;
    case "accept":
      await runJob(test, "accept-orders");
      return;
    case "cancel":
      if (named !== undefined) await cancelOrder(partner, named);
      return;
    case "cancelWhileProcessing":
      if (named !== undefined) await Promise.all([processDuePayments(test), cancelOrder(partner, named)]);
      return;
    case "refund":
    case "refundTwice":
    case "refundAndCancel":
      if (named !== undefined) await refundAtOnce(partner, named, command);
      return;
    case "retry":
      if (named !== undefined) await retry(test, partner, named);
      return;
    case "advance":
      return test.clock.advance({ seconds: command.seconds });
    case "limit":
      return setCreditLimit(test, partner, command.orders === null ? null : BigInt(command.orders) * PRICE);
    case "payIn":
      world.paidIn += PRICE;
      return payIn(test, partner, "10.00");
    case "die": {
      const service = dying(command.statement, command.applied);
      await processPayments(service, accountGateway(service)).catch(() => undefined);
      return;
    }
    case "lose":
      await processPayments(test.context, losing(accountGateway(test.context), command.afterwards));
  }
}

let tickets = 0;

/** A refund by request, two of them at the same time, or one beside a cancel. Each may find that nothing is left. */
async function refundAtOnce(
  partner: Partner,
  id: string,
  { name, amount }: Extract<Command, { amount: string | null }>,
): Promise<void> {
  const { lines } = await readDetail(test, id);
  const refund = () => {
    tickets += 1;
    return test.backOffice.post(`/api/orders/${id}/refund`, {
      ...(amount === null
        ? { lines: lines.map((line: { id: string }) => ({ lineId: line.id, quantity: 1 })) }
        : { amount: { amount, currency: "EUR" } }),
      reason: "other",
      reference: `ticket-${tickets}`,
    });
  };
  if (name === "refundTwice") await Promise.all([refund(), refund()]);
  else if (name === "refundAndCancel") await Promise.all([refund(), cancelOrder(partner, id)]);
  else await refund();
}

/** What an order's ledger says the merchant has paid for it. */
const paid = (ledger: readonly LedgerEntry[]): bigint =>
  ledger
    .filter(({ status }) => status === "succeeded")
    .reduce((sum, { kind, amountMinor }) => sum + (kind === "refund" ? -amountMinor : amountMinor), 0n);

/** The refunds of an order that are pending, made or declined, each once. */
function refundedOrOwed(ledger: readonly LedgerEntry[]): bigint {
  const newest = new Map(
    ledger
      .filter(({ kind }) => kind === "refund")
      .toSorted((one, other) => one.attempt - other.attempt)
      .map((entry) => [`${entry.refundOf} ${entry.refundId}`, entry.amountMinor]),
  );
  return [...newest.values()].reduce((sum, amountMinor) => sum + amountMinor, 0n);
}

/** Never charged twice, never refunded more than that, and no order that is paid for is held. */
async function expectSound({ partner, orders }: World): Promise<void> {
  for (const id of orders) {
    const ledger = await ledgerOf(test, partner, id);
    const charged = paid(ledger.filter(({ kind }) => kind !== "refund"));
    expect([0n, PRICE]).toContain(charged);
    expect(refundedOrOwed(ledger)).toBeLessThanOrEqual(charged);
    expect(paid(ledger)).toBeGreaterThanOrEqual(0n);
    const { status, onHold } = await readOrder(partner, id);
    if (onHold) expect(paid(ledger)).toBe(0n);
    if (status === "CANCELED") expect(onHold).toBe(false);
    for (const statusOfMoves of ["pending", "succeeded"])
      for (const attempts of Map.groupBy(ledger, (entry) => `${entry.kind} ${entry.refundId}`).values())
        expect(
          attempts.filter((entry) => entry.status === statusOfMoves).length,
          JSON.stringify(ledger, (_, value) => (typeof value === "bigint" ? String(value) : value)),
        ).toBeLessThanOrEqual(1);
  }
}

/** Everything that can still happen automatically happens, with a merchant without a credit limit. */
async function calmDown({ partner }: World): Promise<void> {
  await setCreditLimit(test, partner, null);
  for (let round = 0; round < 4; round += 1) {
    test.clock.advance({ hours: 3 });
    await processDuePayments(test);
  }
}

async function readAccountEntries({ merchantId }: Partner): Promise<Map<string, bigint>> {
  const rows = await test.db.query<{ id: string; amount_minor: bigint }>({
    name: "test-account-entries",
    text: "select id, amount_minor from account_entries where merchant_id = $1",
    values: [fromTypeId("mer", merchantId)],
  });
  return new Map(rows.map((row) => [row.id, row.amount_minor]));
}

/** Both sides have the same entries, and the same amounts. */
async function expectBooksAgree({ partner, orders, paidIn }: World): Promise<void> {
  const booked = await readAccountEntries(partner);
  const sum = [...booked.values()].reduce((total, amount) => total + amount, 0n);
  expect(await balanceOf(test, partner)).toBe(sum);
  const ledgers = await Promise.all(orders.map((id) => ledgerOf(test, partner, id)));
  const moved = ledgers.flat().filter(({ status }) => status === "succeeded");
  for (const { id, kind, amountMinor } of moved)
    expect(booked.get(id)).toBe(kind === "refund" ? amountMinor : -amountMinor);
  expect(sum).toBe(paidIn - ledgers.reduce((total, ledger) => total + paid(ledger), 0n));
  for (const [index, id] of orders.entries()) {
    const { status, onHold } = await readOrder(partner, id);
    const ledger = ledgers[index] ?? [];
    if (status === "CANCELED") expect(paid(ledger)).toBe(0n);
    else expect(onHold ? 0n : PRICE).toBe(paid(ledger) + refundedOrOwed(ledger));
    const charges = ledger.filter(({ kind }) => kind !== "refund");
    expect(onHold).toBe(status !== "CANCELED" && charges.at(-1)?.status === "failed");
  }
  expect(await readDuePayments(test)).toEqual([]);
}

describe("money, by random orders, payments, cancels, lost responses and killed workers", () => {
  it("is charged and refunded once, and the books of both sides agree in the end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 3, maxLength: 16 }), async (commands) => {
        const world: World = { partner: await createPartner(test), orders: [], paidIn: 0n };
        await execute(world, { name: "place" });
        for (const command of commands) {
          await execute(world, command);
          await expectSound(world);
        }
        await calmDown(world);
        await expectSound(world);
        await expectBooksAgree(world);
      }),
      histories({ change: 12, release: 60 }),
    );
  }, 120_000);
});
