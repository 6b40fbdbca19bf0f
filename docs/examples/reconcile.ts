import type { Inbox, WebhookEvent } from "./inbox.ts";

type Page = { data: WebhookEvent[]; nextCursor: string | null };

/** Reads the feed on from where it was read to, and answers how many events had not arrived. */
export async function reconcile(api: string, key: string, inbox: Inbox): Promise<number> {
  for (let missed = 0; ; ) {
    const url = new URL("/v1/events?limit=100", api);
    const cursor = inbox.cursor();
    if (cursor !== null) url.searchParams.set("cursor", cursor);
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`The feed answered ${response.status}.`);
    const { data, nextCursor } = (await response.json()) as Page;
    if (nextCursor === null) return missed; // The end for now; the cursor we have stays good.
    for (const event of data) if (inbox.add(event)) missed += 1;
    inbox.keepCursor(nextCursor); // Only now: an end in between makes us read the page again, and miss nothing.
  }
}
