import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readOrdersByDay } from "../../src/orders/reading/orders-by-day.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

let test: TestService;
let one: Partner;
let other: Partner;
/** The days on which orders were placed, the oldest first. */
const days: string[] = [];
let first: string;
beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test);
  for (let day = 0; day < 3; day += 1) {
    days.push(test.clock.now().toISOString().slice(0, 10));
    const { id } = await placeOrder(one);
    if (day === 0) first = id;
    await placeOrder(other);
    await placeTestOrder(one);
    test.clock.advance({ hours: 24 });
  }
});
afterAll(() => test.close());

/** Orders by day as the overview shows them, if it may count `ordersReadMax` orders itself. */
const read = (
  ordersReadMax: number,
  merchants: string[] | null = null,
  connections: readonly ConnectionKey[] = [],
) =>
  readOrdersByDay(
    test.context.db,
    merchants && { merchantIds: merchants, connections },
    { days: 30, timeZone: "UTC" },
    test.clock.now(),
    ordersReadMax,
  );

const count = () => runJob(test, "count-order-days");

describe("the days that are too many orders ago to be counted for a request", () => {
  it("are not shown before the job has counted them", async () => {
    const { counts, completeSince } = await read(1);
    expect(counts).toEqual([]);
    expect(completeSince.toISOString().slice(0, 10)).toBe(test.clock.now().toISOString().slice(0, 10));
  });

  it("are shown as the job has counted them, of the merchants that are seen", async () => {
    expect(await count()).toBe(90);
    const now = test.clock.now();
    const { counts, countedAt, completeSince } = await read(1);
    expect(counts).toEqual(days.map((day) => ({ day, status: "ACCEPTED", count: 2 })));
    expect(days.map((day) => countedAt.get(day))).toEqual([now, now, now]);
    expect((now.getTime() - completeSince.getTime()) / 86_400_000).toBeGreaterThanOrEqual(29);
    const own = await read(1, [uuidIn("mer", one.merchantId)]);
    expect(own.counts).toEqual(days.map((day) => ({ day, status: "ACCEPTED", count: 1 })));
    expect((await read(1, [])).counts).toEqual([]);
  });

  it("are not shown to a partner, because the job counts whole merchants", async () => {
    const { counts, countedAt, completeSince } = await read(1, [], [connectionKey(one)]);
    expect([counts, countedAt.size]).toEqual([[], 0]);
    expect(completeSince.toISOString().slice(0, 10)).toBe(test.clock.now().toISOString().slice(0, 10));
  });

  it("are counted again after a while, and those of the last days more often", async () => {
    expect(await count()).toBe(0);
    test.clock.advance({ seconds: 300 });
    expect(await count(), "today").toBe(1);
    await operationApplied(test, first, "cancel");
    test.clock.advance({ hours: 1 });
    expect(await count(), "the last week").toBe(7);
    expect((await read(1)).counts.filter(({ day }) => day === days[0])).toEqual([
      { day: days[0], status: "ACCEPTED", count: 1 },
      { day: days[0], status: "CANCELED", count: 1 },
    ]);
  });

  it("are exactly those before the days that are counted with the request", async () => {
    await placeOrder(one);
    await placeOrder(other);
    const { counts, countedAt } = await read(3);
    const today = test.clock.now().toISOString().slice(0, 10);
    expect(counts.filter(({ day }) => day === today)).toEqual([{ day: today, status: "NEW", count: 2 }]);
    expect(countedAt.has(today)).toBe(false);
    expect(counts.reduce((sum, each) => sum + each.count, 0)).toBe(8);
  });

  it("are counted once by several workers, and forgotten after three months", async () => {
    test.clock.advance({ hours: 24 });
    const counted = await Promise.all(Array.from({ length: 4 }, count));
    expect(counted.reduce((sum, each) => sum + each, 0)).toBe(91);
    test.clock.advance({ hours: 100 * 24 });
    await count();
    const rows = await test.db.query({
      name: "test-order-days",
      text: `
        select (select count(*)::integer from order_days) as figures, count(*)::integer as days
        from counted_days`,
      values: [],
    });
    expect(rows).toEqual([{ figures: 0, days: 90 }]);
  });
});
