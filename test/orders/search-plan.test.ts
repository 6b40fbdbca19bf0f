import { expect } from "vitest";
import { findOrders } from "../../src/orders/reading/list-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { startServiceForTest } from "../support/test-service.ts";

itOnPlainPostgres("Plans of Citus name its tasks.")(
  "a search reads names and companies entry by entry, in their order, so that it ends at its limit",
  async () => {
    const { db, clock } = await startServiceForTest();
    const plan: string[] = [];
    const explaining = (tx: Queryable): Queryable => ({
      ...tx,
      async query({ name, text, values }) {
        if (text.startsWith("set local")) return tx.query({ name, text, values });
        const lines = await tx.query<{ "QUERY PLAN": string }>({ name, text: `explain ${text}`, values });
        plan.push(...lines.map((line) => line["QUERY PLAN"]));
        return [];
      },
    });
    const explained = {
      ...db,
      transaction: <T>(work: (tx: Queryable) => Promise<T>) => db.transaction((tx) => work(explaining(tx))),
    };
    await findOrders(explained, null, "ada lo", 5, clock.now());
    expect(plan.filter((line) => line.includes("Scan using orders_name_idx"))).toHaveLength(2);
    expect(plan.filter((line) => line.includes("Scan using orders_company_idx"))).toHaveLength(1);
    expect(plan.filter((line) => /Bitmap|Sort Key: \(*lower/.test(line))).toEqual([]);
  },
);
