import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accountGateway } from "../../src/payments/account/account.ts";
import { processPayments } from "../../src/payments/process-payments.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { cancelOrder, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  moves,
  processDuePayments,
  processPaymentsWith,
  readDuePayments,
  scriptedGateway,
  setCreditLimit,
} from "../support/payments.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";

const LEASE = { seconds: 60 };

/** A worker that is killed at one of its statements; returns whether it reached it. */
async function processAndDie(
  { context }: TestService,
  statements: number,
  applied: boolean,
): Promise<boolean> {
  const dying = { ...context, db: dyingDatabase(context.db, statements, applied) };
  return processPayments(dying, accountGateway(dying)).then(
    () => false,
    () => true,
  );
}

/** One statement finds the payers, one claims; one transaction books, one records; and one claims in vain. */
const STATEMENTS = [1, 2, 3, 4, 5];
const DEATHS = STATEMENTS.flatMap((statement) => [
  { statement, applied: false },
  { statement, applied: true },
]);

describe("a worker that is killed", () => {
  let test: TestService;
  beforeAll(async () => {
    test = await startTestService();
  });
  afterAll(() => test.close());
  // Nothing is left over for the worker of the next test.
  afterEach(async () => expect(await readDuePayments(test)).toEqual([]));

  it.each(DEATHS)(
    "at statement $statement (applied: $applied) has charged once in the end",
    async (death) => {
      const partner = await createPartner(test);
      const { id } = await placeOrder(partner);
      expect(await processAndDie(test, death.statement, death.applied)).toBe(true);
      test.clock.advance(LEASE);
      await processDuePayments(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
      expect(await balanceOf(test, partner)).toBe(-1_000n);
    },
  );

  it.each(DEATHS)(
    "at statement $statement (applied: $applied) of a refund has refunded once",
    async (death) => {
      const partner = await createPartner(test);
      const { id } = await placeOrder(partner);
      await processDuePayments(test);
      await cancelOrder(partner, id);
      await processAndDie(test, death.statement, death.applied);
      test.clock.advance(LEASE);
      await processDuePayments(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
      expect(await balanceOf(test, partner)).toBe(0n);
    },
  );

  it.each(DEATHS)(
    "at statement $statement (applied: $applied), and whose order is canceled before another worker continues, leaves nothing charged",
    async (death) => {
      const partner = await createPartner(test);
      const { id } = await placeOrder(partner);
      await processAndDie(test, death.statement, death.applied);
      expect((await cancelOrder(partner, id)).status).toBe(200);
      test.clock.advance(LEASE);
      await processDuePayments(test);
      expect(await balanceOf(test, partner)).toBe(0n);
    },
  );

  it.each(DEATHS)(
    "at statement $statement (applied: $applied) of a decline holds the order once",
    async (death) => {
      const partner = await createPartner(test);
      await setCreditLimit(test, partner, 0n);
      const { id } = await placeOrder(partner);
      await processAndDie(test, death.statement, death.applied);
      test.clock.advance(LEASE);
      await processDuePayments(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 pending"]);
      expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
      await cancelOrder(partner, id);
    },
  );

  it("keeps its claim exactly until the lease expires", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    await processAndDie(test, 2, true);
    test.clock.advance({ ...LEASE, ms: -1 });
    expect(await processDuePayments(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await processDuePayments(test)).toBe(1);
  });
});

describe("a gateway whose response was lost", () => {
  it.each(["beforeMove", "afterMove"] as const)(
    "(%s) is requested again under the same id, with increasing waits",
    async (when) => {
      const test = await startServiceForTest();
      const partner = await createPartner(test);
      const { id } = await placeOrder(partner);
      const lost = () => {
        throw new Error("The connection was lost.");
      };
      const gateway = scriptedGateway(test, { [when]: lost });
      for (const seconds of [0, 5, 10, 20, 40]) {
        test.clock.advance({ seconds, ms: -1 });
        if (seconds > 0) expect(await processPaymentsWith(test, gateway)).toBe(0);
        test.clock.advance({ ms: 1 });
        expect(await processPaymentsWith(test, gateway)).toBe(1);
        expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
      }
      expect((await readOrder(partner, id)).onHold).toBe(false);
      gateway[when] = () => undefined;
      test.clock.advance({ hours: 1 });
      await processPaymentsWith(test, gateway);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
      expect(new Set(gateway.calls.map(({ payment }) => payment.entryId)).size).toBe(1);
      expect([...gateway.moved.values()]).toEqual([1_000n]);
    },
  );

  it("does not delay the other payments of the same batch", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const [lost, sound] = [await placeOrder(partner), await placeOrder(partner)];
    const gateway = scriptedGateway(test);
    gateway.afterMove = ({ entryId }) => {
      if (entryId === gateway.calls[0]?.payment.entryId) throw new Error("The connection was lost.");
    };
    await processPaymentsWith(test, gateway);
    expect(await moves(test, partner, lost.id)).toEqual(["goods 1 pending"]);
    expect(await moves(test, partner, sound.id)).toEqual(["goods 1 succeeded"]);
  });
});

describe("a claim that another worker has taken over", () => {
  it("changes nothing any more, whatever its gateway returned", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    let settled: Record<string, string[]> = {};
    const slow = scriptedGateway(test, {
      decide: () => "declined",
      afterMove: async () => {
        test.clock.advance(LEASE);
        await processPaymentsWith(test, scriptedGateway(test));
        settled = await dumpTables(test);
      },
    });
    await processPaymentsWith(test, slow);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(await dumpTables(test)).toEqual(settled);
  });

  it("does not end a claim of another worker", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const slow = scriptedGateway(test, {
      decide: () => "declined",
      afterMove: async () => {
        test.clock.advance(LEASE);
        await processPaymentsWith(test, scriptedGateway(test, { decide: () => "pending" }));
      },
    });
    await processPaymentsWith(test, slow);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    expect((await readOrder(partner, id)).onHold).toBe(false);
  });

  it("is not released by the late report that the outcome is unknown", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const quick = scriptedGateway(test, { decide: () => "pending" });
    const slow = scriptedGateway(test, {
      afterMove: async () => {
        test.clock.advance(LEASE);
        await processPaymentsWith(test, quick);
        throw new Error("The connection was lost.");
      },
    });
    await processPaymentsWith(test, slow);
    const [due] = await readDuePayments(test);
    expect(due).toMatchObject({ attempt_count: 2, due_at: new Date(test.clock.now().getTime() + 3_600_000) });
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
  });
});

describe("several workers", () => {
  async function placeMany(partner: Partner, count: number): Promise<string[]> {
    const placed = await Promise.all(Array.from({ length: count }, () => placeOrder(partner)));
    return placed.map(({ id }) => id);
  }

  it("charge each order once", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeMany(partner, 150);
    const gateways = [0, 1, 2, 3].map(() => scriptedGateway(test, { batchSize: 20 }));
    const counts = await Promise.all(gateways.map((gateway) => processPaymentsWith(test, gateway)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(150);
    const moved = gateways.flatMap((gateway) => [...gateway.moved.keys()]);
    expect(moved).toHaveLength(150);
    expect(new Set(moved).size).toBe(150);
  });

  it("never charge a merchant beyond its limit, and leave no room unused", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 42_00n);
    const orders = await placeMany(partner, 60);
    await Promise.all([processDuePayments(test), processDuePayments(test), processDuePayments(test)]);
    expect(await balanceOf(test, partner)).toBe(-40_00n);
    const held = await Promise.all(orders.map(async (id) => (await readOrder(partner, id)).onHold));
    expect(held.filter((onHold) => onHold)).toHaveLength(56);
  });

  it("and concurrent cancels leave every canceled order without a charge", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const orders = await placeMany(partner, 40);
    const cancels = orders.filter((_, index) => index % 2 === 0);
    await Promise.all([
      processDuePayments(test),
      ...cancels.map((id) => cancelOrder(partner, id)),
      processDuePayments(test),
      ...cancels.map((id) => cancelOrder(partner, id)),
    ]);
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(-20_000n);
    expect(await readDuePayments(test)).toEqual([]);
    for (const id of cancels)
      expect([["goods 1 canceled"], ["goods 1 succeeded", "refund 1 succeeded"]]).toContainEqual(
        await moves(test, partner, id),
      );
  });
});
