import { describe, expect, it } from "vitest";
import { readTimeline } from "../../src/orders/changes/timeline-sql.ts";
import { listPaymentRetries } from "../../src/payments/retries-sql.ts";
import { retryDeclinedCharges, retryNextBatch } from "../../src/payments/retry-payments.ts";
import { createLog } from "../../src/platform/log.ts";
import { countRows, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { givenUp } from "../support/given-up.ts";
import { connectionKey } from "../support/orders.ts";
import {
  moves,
  orderUuid,
  payIn,
  processDuePayments,
  readDuePayments,
  retryDeclined,
  sendDuePayments,
  setCreditLimit,
} from "../support/payments.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const FAILED_ONCE = ["goods 1 failed"];
const DUE_AGAIN = ["goods 1 failed", "goods 2 pending"];
const FAILED_TWICE = ["goods 1 failed", "goods 2 failed"];

const allMoves = (test: TestService, partner: Partner, ids: readonly string[]): Promise<string[][]> =>
  Promise.all(ids.map((id) => moves(test, partner, id)));

/** One batch of at most two orders, and of a retry with at most two failed ones. Returns what `retryNextBatch` does. */
async function retryTwo(test: TestService): Promise<number> {
  const [retry] = await listPaymentRetries(test.db);
  return retry === undefined
    ? 0
    : retryNextBatch(test.context, retry, [], { scheduled: 2, declined: 2, failed: 2 });
}

/** Locks orders as a slow transaction does, while `work` runs. */
const whileLocked = (
  test: TestService,
  partner: Partner,
  ids: readonly string[],
  work: () => Promise<void>,
) =>
  test.db.transaction(async (tx) => {
    await tx.query({
      name: "test-lock-orders",
      text: "select id from orders where merchant_id = $1 and id = any($2::uuid[]) for update",
      values: [connectionKey(partner).merchantId, ids.map(orderUuid)],
    });
    await work();
  });

const retriesOpen = (test: TestService): Promise<number> => countRows(test, "payment_retries");

/** How often the service has retried the payment of an order. */
async function retriesOf(test: TestService, partner: Partner, id: string): Promise<number> {
  const timeline = await readTimeline(test.db, connectionKey(partner), orderUuid(id));
  return timeline.filter(({ operation }) => operation === "retryPayment").length;
}

describe("a payment of a merchant", () => {
  it("waits for none of its orders", async () => {
    const { test, partner, ids } = await givenUp(2);
    await whileLocked(test, partner, ids, () => payIn(test, partner, "20.00"));
    expect(await allMoves(test, partner, ids)).toEqual([FAILED_ONCE, FAILED_ONCE]);
    expect(await retriesOpen(test)).toBe(1);
  });

  it("that is sent again requests nothing more", async () => {
    const { test, partner } = await givenUp(0);
    const path = `/api/merchants/${partner.merchantId}/account/payments`;
    const body = { amount: { amount: "1.00", currency: "EUR" }, reference: "once" };
    expect((await test.backOffice.post(path, body)).status).toBe(201);
    await retryDeclined(test);
    expect((await test.backOffice.post(path, body)).status).toBe(200);
    expect(await retriesOpen(test)).toBe(0);
  });
});

describe("retry-declined-charges", () => {
  it("makes declined charges due in batches, oldest first", async () => {
    const { test, partner, ids } = await givenUp(5);
    await payIn(test, partner, "1.00");
    const due: number[] = [];
    while ((await retryTwo(test)) > 0)
      due.push((await allMoves(test, partner, ids)).findLastIndex((each) => each.length === 2) + 1);
    expect(due).toEqual([0, 2, 4, 5]);
    expect(await retriesOpen(test)).toBe(0);
    expect(await retryDeclined(test)).toBe(0);
  });

  it("makes scheduled attempts due in batches, each once", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    for (let count = 0; count < 5; count += 1) await placeOrder(partner);
    await processDuePayments(test);
    await payIn(test, partner, "1.00");
    const dueCount = async () =>
      (await readDuePayments(test)).filter(({ due_at }) => due_at <= test.clock.now()).length;
    const [running] = await listPaymentRetries(test.db);
    if (running === undefined) throw new Error("The payment has requested a retry.");
    await retryTwo(test);
    expect(await dueCount()).toBe(2);
    await sendDuePayments(test); // Declined again, and scheduled for the same time as before.
    expect(await retryNextBatch(test.context, running, [])).toBe(0); // A worker that is late.
    const due: number[] = [await dueCount()];
    while ((await retryTwo(test)) > 0) due.push(await dueCount());
    expect(due.slice(0, 4)).toEqual([0, 2, 3, 3]);
    expect(await retriesOpen(test)).toBe(0);
    expect((await countRows(test, "ledger_entries")) + (await countRows(test, "due_payments"))).toBe(12);
  });

  it.each([false, true])(
    "continues after a crash, once for each charge (last statement applied: %s)",
    async (applied) => {
      const { test, partner, ids } = await givenUp(3);
      await payIn(test, partner, "1.00");
      for (let statements = 1; (await retriesOpen(test)) > 0; statements += 1) {
        const context = { ...test.context, db: dyingDatabase(test.db, statements, applied) };
        await retryDeclinedCharges(context).catch(() => 0);
        await sendDuePayments(test);
      }
      expect(await allMoves(test, partner, ids)).toEqual([FAILED_TWICE, FAILED_TWICE, FAILED_TWICE]);
      for (const id of ids) expect(await retriesOf(test, partner, id)).toBe(1);
    },
  );

  it("retries each charge once, whatever number of workers", async () => {
    const { test, partner, ids } = await givenUp(20);
    await payIn(test, partner, "1.00");
    await Promise.all(Array.from({ length: 5 }, () => retryDeclined(test)));
    await retryDeclined(test);
    expect(await allMoves(test, partner, ids)).toEqual(ids.map(() => DUE_AGAIN));
    for (const id of ids) expect(await retriesOf(test, partner, id)).toBe(1);
    expect(await retriesOpen(test)).toBe(0);
  });

  it("begins again when a second change comes while it runs", async () => {
    const { test, partner, ids } = await givenUp(4);
    await payIn(test, partner, "1.00");
    await retryTwo(test);
    await retryTwo(test);
    const [running] = await listPaymentRetries(test.db);
    if (running === undefined) throw new Error("The retry has more orders.");
    await sendDuePayments(test);
    await payIn(test, partner, "1.00");
    expect(await retryNextBatch(test.context, running, [])).toBe(0); // A worker that has not noticed the change.
    expect(await allMoves(test, partner, ids)).toEqual([
      FAILED_TWICE,
      FAILED_TWICE,
      FAILED_ONCE,
      FAILED_ONCE,
    ]);
    await retryDeclined(test);
    expect((await allMoves(test, partner, ids)).map((each) => each.at(-1))).toEqual([
      "goods 3 pending",
      "goods 3 pending",
      "goods 2 pending",
      "goods 2 pending",
    ]);
  });

  it("reports orders that cannot be stored together at the end of a run, and logs none of them alone", async () => {
    const { test, partner, ids } = await givenUp(12);
    const other = await createPartner(test);
    await setCreditLimit(test, other, 0n);
    const { id } = await placeOrder(other);
    await processDuePayments(test);
    await test.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin
        if new.merchant_id = '${connectionKey(partner).merchantId}' then raise exception 'rejected'; end if;
        return new;
      end $$;
      create trigger reject before insert on timeline_entries for each row execute function reject();`);
    await payIn(test, partner, "1.00");
    await payIn(test, other, "1.00");
    const lines: string[] = [];
    const log = createLog("debug", { write: (line) => void lines.push(line) });
    const error = await retryDeclinedCharges({ ...test.context, log }).catch((thrown: unknown) => thrown);
    if (!(error instanceof AggregateError)) throw new Error("The orders of the partner cannot be stored.");
    expect(error.message).toBe("12 batches or items of this run failed.");
    expect(error.errors.map(({ message }) => message)).toHaveLength(10);
    expect(ids.map((each) => `Order ${each} could not be charged again.`)).toEqual(
      expect.arrayContaining(error.errors.map(({ message }) => message)),
    );
    expect(lines).toEqual([]);
    expect(await moves(test, other, id)).toEqual(DUE_AGAIN);
    await test.db.runScript("drop trigger reject on timeline_entries");
    await retryDeclined(test);
    expect(await allMoves(test, partner, ids)).toEqual(ids.map(() => DUE_AGAIN));
  });

  it("retries an order that is locked later, and the others now", async () => {
    const { test, partner, ids } = await givenUp(3);
    await payIn(test, partner, "1.00");
    await whileLocked(test, partner, ids.slice(0, 1), async () => {
      await retryDeclined(test);
    });
    expect(await allMoves(test, partner, ids)).toEqual([FAILED_ONCE, DUE_AGAIN, DUE_AGAIN]);
    await retryDeclined(test);
    expect(await allMoves(test, partner, ids)).toEqual([DUE_AGAIN, DUE_AGAIN, DUE_AGAIN]);
    expect(await retriesOpen(test)).toBe(0);
  });

  it("continues only when few orders are left that failed", async () => {
    const { test, partner, ids } = await givenUp(5);
    await payIn(test, partner, "1.00");
    await whileLocked(test, partner, ids, async () => {
      while ((await retryTwo(test)) > 0);
      expect(await listPaymentRetries(test.db)).toMatchObject([
        { failedOrderIds: ids.slice(0, 2).map(orderUuid), position: orderUuid(ids[1] ?? "") },
      ]);
    });
    while ((await retryTwo(test)) > 0);
    expect(await allMoves(test, partner, ids)).toEqual(ids.map(() => DUE_AGAIN));
    expect(await retriesOpen(test)).toBe(0);
  });

  it("ends for orders that were paid since they failed", async () => {
    const { test, partner, ids } = await givenUp(1);
    await payIn(test, partner, "10.00");
    await whileLocked(test, partner, ids, async () => {
      await retryDeclined(test);
    });
    const path = `/api/orders/${ids[0]}/retry-payment`;
    expect((await test.backOffice.post(path, {})).status).toBe(200);
    await sendDuePayments(test);
    await retryDeclined(test);
    expect(await allMoves(test, partner, ids)).toEqual([["goods 1 failed", "goods 2 succeeded"]]);
    expect(await retriesOpen(test)).toBe(0);
  });

  it("reads a merchant's declines of the past a bounded number at a time", async () => {
    const { test, partner, ids } = await givenUp(4);
    await payIn(test, partner, "40.00");
    await processDuePayments(test);
    expect((await allMoves(test, partner, ids)).map((each) => each.at(-1))).toEqual(
      ids.map(() => "goods 2 succeeded"),
    );
    await payIn(test, partner, "1.00");
    const positions: (string | undefined)[] = [];
    while ((await retryTwo(test)) > 0) positions.push((await listPaymentRetries(test.db))[0]?.position);
    expect(positions.slice(1)).toEqual([ids[1], ids[3]].map((id) => orderUuid(id ?? "")));
    expect(await retriesOpen(test)).toBe(0);
  });
});
