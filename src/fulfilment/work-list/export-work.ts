import type { Queryable } from "../../platform/database/database.ts";
import { PAGE_SIZE_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { WorkItem } from "./pick-list.ts";
import { listWork, type WorkFilter } from "./work-list-sql.ts";

/**
 * All orders that can be shipped, the oldest first, page by page. Memory holds one page. An order that can be shipped only
 * since its page was read is left out; no order appears twice.
 */
export async function* exportWork(
  db: Queryable,
  filter: WorkFilter,
  now: Date,
  limit = PAGE_SIZE_MAX,
): AsyncGenerator<readonly WorkItem[]> {
  let afterId: string | null = UUID_MIN;
  while (afterId !== null) {
    const found = await listWork(db, filter, { list: "work", afterId, limit }, now);
    const page: readonly WorkItem[] = found.items.slice(0, limit);
    afterId = found.items.length > limit ? (page.at(-1)?.id ?? null) : found.readTo;
    if (page.length > 0) yield page;
  }
}
