import type { TestService } from "./test-service.ts";

/**
 * Written beside requests: when each key was last used (docs/design/isolation-and-limits.md, "Keys"), and what is granted of rate
 * limits ("Rate limit").
 */
const NOT_DUMPED = ["api_key_uses", "rate_limits"];

/** Every row of every table as text, by table: two dumps are equal when nothing was stored, changed or deleted. */
export async function dumpTables(test: TestService): Promise<Record<string, string[]>> {
  const tables = await test.db.query<{ name: string }>({
    name: "test-list-tables",
    text: `
      select c.relname as name
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname`,
    values: [],
  });
  const dump: Record<string, string[]> = {};
  for (const { name } of tables.filter((table) => !NOT_DUMPED.includes(table.name))) {
    const rows = await test.db.query<{ row: string }>({
      name: `test-dump-${name}`,
      text: `select t::text as row from "${name}" t order by 1`,
      values: [],
    });
    dump[name] = rows.map(({ row }) => row);
  }
  return dump;
}

/** How many rows, by table, hold one of these texts in any column; tables without one are left out. */
export async function countRowsNaming(
  test: TestService,
  ...texts: string[]
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, rows] of Object.entries(await dumpTables(test))) {
    const count = rows.filter((row) => texts.some((text) => row.includes(text))).length;
    if (count > 0) counts[table] = count;
  }
  return counts;
}
