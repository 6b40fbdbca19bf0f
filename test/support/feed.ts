import { expect, vi } from "vitest";
import type { Partner } from "./builders.ts";
import type { TestService } from "./test-service.ts";

type Event = { id: string; type: string; sequence: number | null; timestamp: string };
type Page = { data: Event[]; nextCursor: string | null };

export async function readFeedPage(
  test: TestService,
  { client }: Pick<Partner, "client">,
  query = "",
): Promise<Page> {
  await untilOthersAreDone(test);
  const { status, body } = await client.get(`/v1/events${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Everything from a cursor on, as a poller reads it, and the cursor it keeps. */
export async function pollFeed(
  test: TestService,
  partner: Pick<Partner, "client">,
  cursor: string | null,
  query = "",
): Promise<{ ids: string[]; events: Event[]; cursor: string | null }> {
  const events: Event[] = [];
  let kept = cursor;
  for (;;) {
    const from = kept === null ? "" : `&cursor=${kept}`;
    const { data, nextCursor } = await readFeedPage(test, partner, `?limit=2${query}${from}`);
    if (data.length === 0) {
      expect(nextCursor).toBeNull();
      return { ids: events.map(({ id }) => id), events, cursor: kept };
    }
    expect(nextCursor).not.toBeNull();
    events.push(...data);
    kept = nextCursor;
  }
}

/**
 * Resolves when no transaction of another session on the server runs that runs now. The feed waits for these, in any
 * database, and other test files share the server.
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
