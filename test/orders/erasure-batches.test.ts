import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eraseAllExpiredTestOrders } from "../../src/orders/deadlines/erase-test-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

const TABLES = ["deliveries", "attempts", "due_deliveries", "events", "timeline_entries"] as const;
const ROWS_MAX = 2_000;
const MANY = 30_000;

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  other = await createPartner(test);
  await createEndpoint(partner);
});
afterAll(() => test.close());

/** An expired test order with this many deliveries, of which some have attempts and some are due by request. */
async function anExpiredOrder(deliveries: number, externalOrderId: string): Promise<string> {
  const { id } = await placeTestOrder(partner, { externalOrderId });
  const orderId = fromTypeId("test", id) ?? "";
  await test.db.runScript(`
    set local session_replication_role = replica;
    insert into deliveries (
      merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, not_after, status)
    select merchant_id, connection_id, gen_random_uuid(), endpoint_id, event_id, event_type, order_id, n, stream_id,
           not_after, status
    from deliveries d, generate_series(2, ${deliveries}) n
    where d.stream_id = '${orderId}';
    insert into attempts (merchant_id, id, delivery_id, trigger, started_at, response_status)
    select d.merchant_id, overlay(e.id::text placing lpad(to_hex(d.sequence), 12, '0') from 25)::uuid, d.id, 'schedule', now(), 500
    from deliveries d
    join events e on e.merchant_id = d.merchant_id and e.order_id = d.stream_id
    where d.stream_id = '${orderId}' and d.sequence % 10 = 0;
    insert into due_deliveries (
      merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at)
    select merchant_id, connection_id, endpoint_id, id, id, event_id, 'manual', 0, now()
    from deliveries
    where stream_id = '${orderId}' and sequence % 20 = 0;
    insert into timeline_entries (merchant_id, order_id, id, operation, actor_kind, status, hold_reasons, created_at)
    select o.merchant_id, o.id, gen_random_uuid(), 'process', 'partner', 'PROCESSING', '{}', now()
    from orders o, generate_series(1, ${deliveries / 20}) n
    where o.id = '${orderId}'`);
  test.clock.advance({ hours: 2 });
  return orderId;
}

/** Something done before a statement within a transaction. */
function beforeStatements(
  context: WebhookContext,
  before: (name: string, values: readonly unknown[]) => void | Promise<void>,
): WebhookContext {
  const watched = ({ query, isDistributed }: Queryable): Queryable => ({
    isDistributed,
    async query(statement) {
      await before(statement.name, statement.values);
      return query(statement);
    },
  });
  return {
    ...context,
    db: { ...context.db, transaction: (work) => context.db.transaction((tx) => work(watched(tx))) },
  };
}

async function countRows(): Promise<number[]> {
  const counts: number[] = [];
  for (const table of TABLES) {
    const [row] = await test.db.query<{ count: number }>({
      name: `test-count-${table}`,
      text: `select count(*)::integer as count from ${table}`,
      values: [],
    });
    counts.push(row?.count ?? 0);
  }
  return counts;
}

describe("a test order with a very long history", () => {
  it("is erased in transactions that delete few rows, and no ids pass through the service", async () => {
    const before = await countRows();
    await anExpiredOrder(MANY, "long history");
    const deleted: number[] = [];
    const sizes: number[] = [];
    let counts = await countRows();
    const context = beforeStatements(test.context, (_, values) => {
      sizes.push(JSON.stringify(values).length);
    });
    const transaction = context.db.transaction;
    context.db.transaction = async (work) => {
      const result = await transaction(work);
      const after = await countRows();
      deleted.push(...after.map((count, index) => (counts[index] ?? 0) - count));
      counts = after;
      return result;
    };
    expect(await eraseAllExpiredTestOrders(context)).toBe(1);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(2 * ROWS_MAX);
    expect(deleted.filter((rows) => rows > 0).length).toBeGreaterThan(MANY / ROWS_MAX);
    expect(Math.max(...sizes)).toBeLessThan(10_000);
    expect(await countRows()).toEqual(before);
  });

  it("delays neither a creation with its key nor one of another partner, in the middle of its erasure", async () => {
    const orderId = await anExpiredOrder(5_000, "in the middle");
    const placed: number[] = [];
    const context = beforeStatements(test.context, async (name) => {
      if (!/deliveries|streams/.test(name) || placed.length > 0) return;
      for (const owner of [partner, other]) {
        const body = anOrder(owner, { externalOrderId: "in the middle" });
        placed.push((await owner.client.post("/v1/orders", body)).status);
      }
    });
    expect(await eraseAllExpiredTestOrders(context)).toBe(1);
    expect(placed).toEqual([201, 201]);
    const left = Object.values(await dumpTables(test)).flat();
    expect(left.filter((row) => row.includes(orderId))).toEqual([]);
  });

  it("is not erased by a creation that needs its key: that only frees the key", async () => {
    await anExpiredOrder(3_000, "needed again");
    const before = await countRows();
    const { id } = await placeTestOrder(partner, { externalOrderId: "needed again" });
    expect((await partner.client.get("/v1/orders/needed%20again")).body.id).toBe(id);
    const after = await countRows();
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThanOrEqual(before[index] ?? 0);
    expect(await runJob(test, "erase-test-orders")).toBe(1);
    expect((await partner.client.get("/v1/orders/needed%20again")).status).toBe(200);
  });

  it("is erased to the end after the worker has ended between two batches", async () => {
    test.clock.advance({ hours: 2 });
    await runJob(test, "erase-test-orders");
    await placeOrder(partner);
    const before = await countRows();
    await anExpiredOrder(7_000, "cut short");
    let batches = 0;
    const dying = beforeStatements(test.context, (name) => {
      if (name === "lock-erased-orders") batches += 1;
      if (batches === 3) throw new Error("The worker ended.");
    });
    await expect(eraseAllExpiredTestOrders(dying)).rejects.toThrow();
    expect(await countRows()).not.toEqual(before);
    expect((await partner.client.get("/v1/orders/cut%20short")).status).toBe(404);
    expect(await runJob(test, "erase-test-orders")).toBe(1);
    expect(await countRows()).toEqual(before);
  });
});
