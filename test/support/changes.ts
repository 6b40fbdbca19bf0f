import { expect } from "vitest";
import type { Client } from "./test-service.ts";

/** An item of the feed of changes. */
export type ChangeItem = {
  id: string;
  kind: string;
  objectId: string;
  merchantId: string;
  connectionId: string | null;
  orderId: string | null;
  facilityId: string | null;
  gone: boolean;
  version: number;
  changedAt: string;
};

export async function readChangesPage(
  client: Client,
  query: string,
): Promise<{ data: ChangeItem[]; nextCursor: string | null }> {
  const { status, body } = await client.get(`/api/changes?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** The end of the feed. */
export async function endOfChanges(client: Client): Promise<string> {
  const { data, nextCursor } = await readChangesPage(client, "from=now");
  expect(data).toEqual([]);
  if (nextCursor === null) throw new Error("The end of the feed has a cursor.");
  return nextCursor;
}

/** All changes after a cursor, or from the start, in pages, and the last cursor that was not null. */
export async function followChanges(
  client: Client,
  after: string | null = null,
  { limit = 100, query = "" }: { limit?: number; query?: string } = {},
): Promise<{ changes: ChangeItem[]; cursor: string | null }> {
  const changes: ChangeItem[] = [];
  let cursor = after;
  for (;;) {
    const page = await readChangesPage(
      client,
      `limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}${query}`,
    );
    expect(page.data.length).toBeLessThanOrEqual(limit);
    changes.push(...page.data);
    if (page.nextCursor === null) return { changes, cursor };
    cursor = page.nextCursor;
  }
}

/** Kind and object of each, in the order of the feed. */
export const objectsOf = (changes: readonly ChangeItem[]): string[] =>
  changes.map(({ kind, objectId, gone }) => `${kind} ${objectId}${gone ? " gone" : ""}`);
