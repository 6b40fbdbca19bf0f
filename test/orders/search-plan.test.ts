import { expect } from "vitest";
import { findOrders } from "../../src/orders/reading/list-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { startServiceForTest } from "../support/test-service.ts";

itOnPlainPostgres("Plans of Citus name its tasks.")(
  "a search reads words in the order of their orders up to a limit, and then by their own index, never whole tables",
  async () => {
    const { db, clock } = await startServiceForTest();
    const plans: string[] = [];
    const explaining = (tx: Queryable): Queryable => ({
      ...tx,
      async query({ name, text, values }) {
        if (text.startsWith("set local")) return tx.query({ name, text, values });
        const lines = await tx.query<{ "QUERY PLAN": string }>({ name, text: `explain ${text}`, values });
        plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
        // The next orders end before their sequence does, without an order that has the words.
        const end = { name: "", text: "select null as id, 0 as fitting, $1 as read_to", values: [UUID_MIN] };
        return plans.length === 3 ? tx.query(end) : [];
      },
    });
    const explained = {
      ...db,
      transaction: <T>(work: (tx: Queryable) => Promise<T>) => db.transaction((tx) => work(explaining(tx))),
    };
    await findOrders(explained, null, "ada lo", 5, clock.now());
    const [named, numbers, next, words] = plans;
    expect(named).toMatch(/Scan using order_requests_external_order_id_key/);
    expect(numbers).toMatch(/Scan using order_requests_external_order_id_key/);
    expect(numbers).toMatch(/Scan using shipments_tracking_idx/);
    expect(next).toMatch(/Index Scan Backward using order_requests_newest_idx/);
    expect(words).toMatch(/Bitmap Index Scan on order_requests_words_idx/);
    expect(plans.join("\n")).not.toMatch(/Seq Scan on (order_requests|orders|shipments)/);
    expect(`${numbers}${next}`).not.toMatch(/Bitmap/);
  },
);
