import { beforeEach, describe, expect, it } from "vitest";
import { accountGateway } from "../../src/payments/account/account.ts";
import { processPayments } from "../../src/payments/process-payments.ts";
import { countRows, createPartner, placeOrder } from "../support/builders.ts";
import { countStatements, statementsOfBatch } from "../support/counted-statements.ts";
import { createSmallPartners } from "../support/many-orders.ts";
import {
  moves,
  orderUuid,
  processDuePayments,
  processPaymentsWith,
  readDuePayments,
  scriptedGateway,
  setCreditLimit,
} from "../support/payments.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// docs/design/database.md, "Shared batches": payments of many connections are claimed, sent and recorded together, with a share
// for each connection.

const CONNECTIONS = 50;

let test: TestService;
beforeEach(async () => {
  test = await startServiceForTest();
});

async function chargeAndCount(): Promise<readonly string[]> {
  const { context, names } = countStatements(test.context);
  await processPayments(context, accountGateway(context));
  return statementsOfBatch(names);
}

describe("charges of many small connections", () => {
  it("take as many statements as those of one connection", async () => {
    await createSmallPartners(test, CONNECTIONS, 2);
    const many = await chargeAndCount();
    expect(await readDuePayments(test)).toEqual([]);
    expect(await countRows(test, "account_entries")).toBe(2 * CONNECTIONS);
    const large = await createPartner(test);
    for (let order = 0; order < 2; order += 1) await placeOrder(large);
    expect(many).toEqual(await chargeAndCount());
  });

  it("take as many statements when all of them are declined", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 1);
    for (const partner of partners) await setCreditLimit(test, partner, 0n);
    const many = await chargeAndCount();
    const due = await readDuePayments(test);
    expect(due).toHaveLength(CONNECTIONS); // The next attempts.
    const large = await createPartner(test);
    await setCreditLimit(test, large, 0n);
    for (let order = 0; order < 2; order += 1) await placeOrder(large);
    expect(many).toEqual(await chargeAndCount());
  });

  it("leave a connection with a backlog only its share of a batch while others wait", async () => {
    const busy = await createPartner(test);
    for (let order = 0; order < 6; order += 1) await placeOrder(busy);
    test.clock.advance({ seconds: 1 });
    const [quiet] = await createSmallPartners(test, 1, 1);
    const gateway = scriptedGateway(test, { batchSize: 4 });
    await processPaymentsWith(test, gateway);
    const connections = gateway.calls.map(({ payment }) => payment.merchantId);
    const turnOfQuiet = connections.findIndex((id) => id !== connections[0]);
    expect([turnOfQuiet, gateway.calls.length]).toEqual([2, 7]); // The busy one fills further batches alone.
    expect(quiet).toBeDefined();
  });

  it("of a backlog continue without a pause, after two batches also with a connection that has become due", async () => {
    const busy = await createPartner(test);
    for (let order = 0; order < 7; order += 1) await placeOrder(busy);
    const quiet = await createPartner(test);
    const gateway = scriptedGateway(test, { batchSize: 2 });
    gateway.beforeMove = async () => {
      if (gateway.calls.length === 1) await placeOrder(quiet);
    };
    expect(await processPaymentsWith(test, gateway)).toBe(7 + 1);
    const isQuiet = gateway.calls.map(
      ({ payment }) => payment.connectionId !== gateway.calls[0]?.payment.connectionId,
    );
    expect([4, 5]).toContain(isQuiet.indexOf(true)); // Of the batch after the fourth payment, which both share.
  });

  it("are recorded for all orders but one that cannot be, which is charged once in the end", async () => {
    const partners = await createSmallPartners(test, CONNECTIONS, 1);
    const [unlucky] = partners.slice(30);
    if (unlucky === undefined) throw new Error("There are fifty.");
    const { id } = await placeOrder(unlucky);
    await test.db.runScript(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before insert on ledger_entries for each row
        when (new.order_id = '${orderUuid(id)}') execute function refuse();`);
    const { context, names } = countStatements(test.context);
    await expect(processPayments(context, accountGateway(context))).rejects.toThrow("1 batches or items");
    expect(await readDuePayments(test)).toHaveLength(1);
    expect(names.filter((name) => name === "transaction").length).toBeLessThan(25);
    await test.db.runScript("drop trigger refuse on ledger_entries");
    test.clock.advance({ seconds: 60 });
    expect(await processDuePayments(test)).toBe(1);
    expect(await moves(test, unlucky, id)).toEqual(["goods 1 succeeded"]);
    expect(await countRows(test, "account_entries")).toBe(CONNECTIONS + 1);
  });

  it("are made once each by two workers, neither of which waits for what the other has claimed", async () => {
    await createSmallPartners(test, CONNECTIONS, 2);
    const claimed = await test.db.transaction(async (tx) => {
      // Another worker is in the middle of its claim, for as long as the payments of all merchants take.
      await tx.query({
        name: "test-may-be-idle",
        text: "select set_config('idle_in_transaction_session_timeout', '0', true)",
        values: [],
      });
      const rows = await tx.query<{ merchantId: string; id: string }>({
        name: "test-due",
        text: `select merchant_id as "merchantId", entry_id as id from due_payments order by entry_id limit 20`,
        values: [],
      });
      // A claim locks merchant by merchant on Citus: a statement for several would wait for others of several there.
      for (const { merchantId, id } of rows)
        await tx.query({
          name: "test-lock",
          text: "update due_payments set attempt_count = attempt_count where merchant_id = $1 and entry_id = $2",
          values: [merchantId, id],
        });
      return processDuePayments(test);
    });
    expect(claimed).toBe(2 * CONNECTIONS - 20);
    const counts = await Promise.all([processDuePayments(test), processDuePayments(test)]);
    expect(counts[0] + counts[1]).toBe(20);
    expect(await countRows(test, "account_entries")).toBe(2 * CONNECTIONS);
  });
});
