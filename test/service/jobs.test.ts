import { describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { betweenTransactions } from "../support/between-transactions.ts";
import {
  countRows,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { runJob, storedStatuses } from "../support/jobs.ts";
import { copyOrder } from "../support/many-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const accept = (test: TestService) => runJob(test, "accept-orders");

describe("accept-orders", () => {
  it("accepts due orders, leaves the others as they are, and publishes nothing", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const lines = [{ productId: partner.productIds[0], quantity: 2 }];
    const due = await placeOrder(partner);
    await placeOrder(partner, { lines }); // Under review: it never has a window.
    const canceled = await placeOrder(partner);
    await partner.client.post(`/v1/orders/${canceled.id}/cancel`);
    test.clock.advance({ ms: 1 });
    await placeOrder(partner);
    const events = await readEvents(test);
    test.clock.advance({ hours: 2, ms: -1 });
    await placeTestOrder(partner);
    expect(await accept(test)).toBe(1);
    expect(await storedStatuses(test)).toEqual(["ACCEPTED", "PROCESSING", "CANCELED", "NEW", "NEW"]);
    expect((await readEvents(test)).slice(0, events.length)).toEqual(events);
    expect(await countRows(test, "events")).toBe(events.length + 1); // Only the creation of the test order.
    expect((await partner.client.get(`/v1/orders/${due.id}`)).body.updatedAt).toBe(
      test.clock.now().toISOString(),
    );
  });

  it("does nothing a moment too early, and nothing a second time", async () => {
    const test = await startServiceForTest();
    await placeOrder(await createPartner(test));
    test.clock.advance({ hours: 2, ms: -1 });
    const early = await dumpTables(test);
    expect(await accept(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(early);
    test.clock.advance({ ms: 1 });
    expect(await accept(test)).toBe(1);
    const done = await dumpTables(test);
    test.clock.advance({ hours: 1 });
    expect(await accept(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(done);
  });

  it("leaves a partner's view unchanged: a read returned ACCEPTED before, with the same values", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 3 });
    const before = (await partner.client.get(`/v1/orders/${id}`)).body;
    expect(before).toMatchObject({ status: "ACCEPTED", updatedAt: "2026-03-02T11:00:00.000Z" });
    await accept(test);
    expect((await partner.client.get(`/v1/orders/${id}`)).body).toEqual(before);
  });

  it("accepts every order once when several workers run at the same time", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await copyOrder(test, partner, 1_200);
    test.clock.advance({ hours: 2 });
    const counts = await Promise.all([accept(test), accept(test), accept(test), accept(test)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(1_200);
    expect(new Set(await storedStatuses(test))).toEqual(new Set(["ACCEPTED"]));
  });

  it("lets connections share batches: one order of a quiet one does not wait for thousands of a busy one", async () => {
    const test = await startServiceForTest();
    const [busy, quiet] = [await createPartner(test), await createPartner(test)];
    await placeOrder(busy); // The busy one has waited longer, so it comes first.
    await copyOrder(test, busy, 1_600);
    test.clock.advance({ seconds: 1 });
    await placeOrder(quiet);
    test.clock.advance({ hours: 2 });
    expect(await accept(test)).toBe(1_601);
    // xmin is the number of the transaction that wrote a row, so it shows the order of processing.
    const rows = await test.db.query<{ connection_id: string; turn: number }>({
      name: "test-turns",
      text: "select connection_id, dense_rank() over (order by xmin::text::bigint)::integer as turn from orders",
      values: [],
    });
    const turnsOf = ({ connectionId }: Partner) => [
      ...new Set(
        rows.filter((row) => row.connection_id === fromTypeId("con", connectionId)).map(({ turn }) => turn),
      ),
    ];
    expect(turnsOf(quiet)).toEqual([1]); // In the first batch, of which the busy one gets only its share.
    expect(turnsOf(busy).length).toBeGreaterThan(2);
  });

  it("takes up a connection that becomes due in the middle, though a busy one always has more", async () => {
    const test = await startServiceForTest();
    const [busy, quiet] = [await createPartner(test), await createPartner(test)];
    for (let count = 0; count < 10; count += 1) {
      await placeOrder(busy);
      test.clock.advance({ ms: 5 });
      if (count === 0) await placeOrder(quiet);
      test.clock.advance({ ms: 5 });
    }
    test.clock.advance({ hours: 2, ms: -100 }); // Only the first of them is due, and then one with each batch.
    const stopping = new AbortController();
    const context = betweenTransactions(test.context, (number) => {
      test.clock.advance({ ms: 10 });
      if (number === 5) stopping.abort();
    });
    await runJob({ context }, "accept-orders", stopping.signal);
    expect(await storedStatuses(test, quiet.connectionId)).toEqual(["ACCEPTED"]);
    expect(await storedStatuses(test, busy.connectionId)).toContain("NEW");
  });

  it("is not kept from other connections by one that fails, nor by the order it fails at", async () => {
    const test = await startServiceForTest();
    const [broken, sound] = [await createPartner(test), await createPartner(test)];
    await placeOrder(broken);
    test.clock.advance({ seconds: 1 });
    await placeOrder(sound);
    await rejectChangesOf(test, broken);
    test.clock.advance({ hours: 2 });
    await expect(accept(test)).rejects.toThrow();
    expect(await storedStatuses(test, sound.connectionId)).toEqual(["ACCEPTED"]);
    expect(await storedStatuses(test, broken.connectionId)).toEqual(["NEW"]);
  });
});

/** Makes every change of a connection's orders fail in the database. */
async function rejectChangesOf(test: TestService, { connectionId }: Partner): Promise<void> {
  await test.db.runScript(`
    create function reject_change() returns trigger language plpgsql as
      $$ begin raise exception 'rejected by the test'; end $$;
    create trigger reject_change before update or delete on orders for each row
      when (old.connection_id = '${fromTypeId("con", connectionId)}') execute function reject_change();`);
}

describe("erase-test-orders", () => {
  const erase = (test: TestService) => runJob(test, "erase-test-orders");

  it("is not kept from other connections by one that fails", async () => {
    const test = await startServiceForTest();
    const [broken, sound] = [await createPartner(test), await createPartner(test)];
    await placeTestOrder(broken);
    test.clock.advance({ seconds: 1 });
    await placeTestOrder(sound);
    await rejectChangesOf(test, broken);
    test.clock.advance({ hours: 2 });
    await expect(erase(test)).rejects.toThrow();
    expect(await storedStatuses(test, sound.connectionId)).toEqual([]);
    expect(await storedStatuses(test, broken.connectionId)).toEqual(["NEW"]);
  });
});
