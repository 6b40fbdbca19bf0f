import { expect, vi } from "vitest";
import type { TestService } from "./test-service.ts";

/**
 * Resolves when no transaction of anybody else on the server is left that runs now. The feed waits for them, whatever
 * database they are in, and other test files share the server.
 */
export async function untilOthersAreDone(test: TestService): Promise<void> {
  const running = await transactionsOfOthers(test);
  const areDone = async () => {
    const left = new Set(await transactionsOfOthers(test));
    expect(running.filter((id) => left.has(id))).toEqual([]);
  };
  if (running.length > 0) await vi.waitFor(areDone, { timeout: 20_000, interval: 10 });
}

async function transactionsOfOthers({ db }: TestService): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "test-transactions-of-others",
    text: `
      select backend_xid::text as id
      from pg_stat_activity
      where backend_xid is not null
        and (datname is distinct from current_database() or application_name <> 'partner-orders')`,
    values: [],
  });
  return rows.map(({ id }) => id);
}
