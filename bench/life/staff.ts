import type { Site } from "../site.ts";

/** A program of the warehouse: what it asks of `/api` to ship orders and to complete them. */

async function call<Answer>({ service }: Site, method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${service.backOfficeUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.token}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer; // As the specification says.
}

/** Ids of the orders that can ship, the oldest first, at most `count`. */
export async function readReadyOrders(site: Site, count: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({
      ready: "true",
      sort: "oldest",
      limit: `${Math.min(100, count - ids.length)}`,
      ...(cursor !== null && { cursor }),
    });
    type Page = { data: { id: string }[]; nextCursor: string | null };
    const page: Page = await call<Page>(site, "GET", `/api/orders?${query}`);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null && ids.length < count);
  return ids;
}

export const shipOrder = (site: Site, id: string): Promise<unknown> =>
  call(site, "POST", `/api/orders/${id}/ship`, { carrier: "DHL", trackingNumber: id.replace("ord_", "") });

export const completeOrder = (site: Site, id: string): Promise<unknown> =>
  call(site, "POST", `/api/orders/${id}/complete`);

/** An endpoint of the partner for the events of orders. */
export async function addEndpoint({ service, partner }: Site, url: string): Promise<void> {
  const answer = await fetch(`${service.url}/v1/webhook-endpoints`, {
    method: "POST",
    headers: { authorization: `Bearer ${partner.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
  if (!answer.ok) throw new Error(`The endpoint was not created: ${answer.status}.`);
}

export async function countUnsentMails({ db }: Pick<Site, "db">): Promise<number> {
  const [row] = await db.query<{ mails: bigint }>({
    name: "bench-count-mails",
    text: "select count(*) as mails from outgoing_mails where sent_at is null",
    values: [],
  });
  return Number(row?.mails);
}

/** Works on all items, some at a time. */
export async function eachOf<Item>(
  items: readonly Item[],
  atATime: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
