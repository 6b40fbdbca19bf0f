import { expect } from "vitest";
import type { Partner } from "./builders.ts";

type Event = {
  id: string;
  type: string;
  sequence: number | null;
  timestamp: string;
  data: { order?: { id: string } };
};
type Page = { data: Event[]; nextCursor: string | null };

export async function readFeedPage({ client }: Pick<Partner, "client">, query = ""): Promise<Page> {
  const { status, body } = await client.get(`/v1/events${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Everything from a cursor on, as a poller reads it, and the cursor it keeps. */
export async function pollFeed(
  partner: Pick<Partner, "client">,
  cursor: string | null,
  query = "",
): Promise<{ ids: string[]; events: Event[]; cursor: string | null }> {
  const events: Event[] = [];
  let kept = cursor;
  for (;;) {
    const from = kept === null ? "" : `&cursor=${kept}`;
    const { data, nextCursor } = await readFeedPage(partner, `?limit=2${query}${from}`);
    if (data.length === 0) {
      expect(nextCursor).toBeNull();
      return { ids: events.map(({ id }) => id), events, cursor: kept };
    }
    expect(nextCursor).not.toBeNull();
    events.push(...data);
    kept = nextCursor;
  }
}
