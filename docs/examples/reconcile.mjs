/** Reads the feed from the stored cursor, and returns how many events had not arrived. */
export async function reconcile(api, key, inbox) {
  for (let missed = 0; ; ) {
    const url = new URL("/v1/events?limit=100", api);
    const cursor = inbox.cursor();
    if (cursor !== null) url.searchParams.set("cursor", cursor);
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`The feed returned ${response.status}.`);
    const { data, nextCursor } = await response.json();
    if (nextCursor === null) return missed; // The end for now. The stored cursor stays valid.
    for (const event of data) if (inbox.add(event)) missed += 1;
    inbox.keepCursor(nextCursor); // Last, so that after a crash the page is read again.
  }
}
