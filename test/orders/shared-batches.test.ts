import { beforeEach, describe, expect, it } from "vitest";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { countStatements, statementsOfBatch } from "../support/counted-statements.ts";
import { runJob, storedStatuses } from "../support/jobs.ts";
import { copyOrder, createSmallPartners } from "../support/many-orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// docs/design/database.md, "Shared batches": orders of many connections are processed together, with a share for each
// connection.

const CONNECTIONS = 50;

let test: TestService;
beforeEach(async () => {
  test = await startServiceForTest();
});

/** The statements and transactions of one run of a job. */
async function statementsOf(job: string): Promise<readonly string[]> {
  const { context, names } = countStatements(test.context);
  await runJob({ context }, job);
  return statementsOfBatch(names);
}

const transactions = (names: readonly string[]): number =>
  names.filter((name) => name === "transaction").length;

describe("acceptance of many small connections", () => {
  it("takes as many statements as that of one connection", async () => {
    await createSmallPartners(test, CONNECTIONS, 2);
    test.clock.advance({ hours: 2 });
    const many = await statementsOf("accept-orders");
    expect(new Set(await storedStatuses(test))).toEqual(new Set(["ACCEPTED"]));
    const large = await createPartner(test);
    for (let order = 0; order < 2; order += 1) await placeOrder(large);
    test.clock.advance({ hours: 2 });
    expect(many).toEqual(await statementsOf("accept-orders"));
    expect(many.length).toBeLessThan(10);
  });

  it("gives a connection with a backlog only its share of a batch while others wait", async () => {
    const busy = await createPartner(test);
    await placeOrder(busy);
    await copyOrder(test, busy, 700);
    test.clock.advance({ seconds: 1 });
    await createSmallPartners(test, 4, 2);
    test.clock.advance({ hours: 2 });
    const stopping = new AbortController();
    const { context } = countStatements(test.context);
    const { transaction } = context.db;
    Object.assign(context.db, {
      transaction: (work: Parameters<typeof transaction>[0]) => {
        stopping.abort(); // Within the first batch, so that it is the only one.
        return transaction(work);
      },
    });
    expect(await runJob({ context }, "accept-orders", stopping.signal)).toBe(100 + 4 * 2);
    const waiting = await storedStatuses(test, busy.connectionId);
    expect(waiting.filter((status) => status === "NEW")).toHaveLength(600);
  });

  it("leaves an order that cannot be stored behind, after few transactions", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 1);
    const unlucky = partners[20] as Partner; // One of the fifty.
    const { id } = await placeOrder(unlucky);
    const repair = await blockOrderChanges(test, id);
    test.clock.advance({ hours: 2 });
    const { context, names } = countStatements(test.context);
    await expect(runJob({ context }, "accept-orders")).rejects.toThrow("1 batches or items");
    expect((await storedStatuses(test)).filter((status) => status === "NEW")).toHaveLength(1);
    expect(transactions(names)).toBeLessThan(20); // Not one for each of the 51 orders.
    await repair();
    expect(await runJob(test, "accept-orders")).toBe(1);
  });

  it("is done once for each order by two workers, neither of which waits for the other", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 1);
    test.clock.advance({ hours: 2 });
    const taken = await test.db.transaction(async (tx) => {
      // Another worker is in the middle of its batch.
      const orders = await tx.query<{ merchant_id: string; id: string }>({
        name: "test-oldest-orders",
        text: "select merchant_id, id from orders order by id limit 20",
        values: [],
      });
      for (const { merchant_id, id } of orders)
        await tx.query({
          name: "test-lock",
          text: "select from orders where merchant_id = $1 and id = $2 for no key update",
          values: [merchant_id, id],
        });
      return runJob(test, "accept-orders");
    });
    expect(taken).toBe(partners.length - 20);
    const counts = await Promise.all([runJob(test, "accept-orders"), runJob(test, "accept-orders")]);
    expect(counts[0] + counts[1]).toBe(20);
  });
});
