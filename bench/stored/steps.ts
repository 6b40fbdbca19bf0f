import { startService, stop } from "../processes.ts";
import type { Postgres, Site } from "../site.ts";
import { backOfficeReads, type Names, partnerReads, partnerSearches } from "./reads.ts";

/** A request or a job that is measured alone. */
export type Step = { readonly step: string; readonly run: () => Promise<void> };

export type StepSite = {
  readonly postgres: Postgres;
  readonly site: Site;
  /** The key and the body of an order of the first owner. */
  readonly partner: { readonly key: string; readonly body: string };
  readonly names: Names;
};

/** PostgreSQL plans a prepared statement five times before it may keep the plan. */
const REPEATS = 8;
const ORDERS_OF_STEP = 40;

/** Requests that may fail: what they name is not there. */
const MISSING = /none$|chg_|packing-slip/;

export function stepsOf({ postgres, site, partner, names }: StepSite): Step[] {
  const asPartner = clientOf(site.service.url, partner.key);
  const asOperator = clientOf(site.service.backOfficeUrl, site.service.token);
  const placed: string[] = [];
  const read = (client: Client, path: string): Step => ({
    step: `GET ${path}`,
    run: () => repeat(REPEATS, () => client("GET", path)),
  });
  const onPlaced = (name: string, from: number, path: (id: string) => string, body: object = {}): Step => ({
    step: name,
    run: async () => {
      for (const id of placed.slice(from, from + REPEATS)) await asOperator("POST", path(id), body);
    },
  });
  return [
    ...partnerReads(names).map((path) => read(asPartner, path)),
    ...partnerSearches(names).map((body) => ({
      step: `POST /v1/orders/search ${JSON.stringify(body)}`,
      run: () => repeat(REPEATS, () => asPartner("POST", "/v1/orders/search", body)),
    })),
    ...backOfficeReads(names).map((path) => read(asOperator, path)),
    {
      step: "place orders",
      run: async () => {
        for (let number = 0; number < ORDERS_OF_STEP; number += 1) {
          const order = (await asPartner("POST", "/v1/orders", orderBody(partner.body, number))) as {
            id: string;
          }; // The specification says so.
          placed.push(order.id);
        }
      },
    },
    {
      step: "repeat a creation",
      run: () => repeat(REPEATS, () => asPartner("POST", "/v1/orders", orderBody(partner.body, 0))),
    },
    onPlaced("hold", 0, (id) => `/api/orders/${id}/hold`, { reasons: ["merchant_request"] }),
    onPlaced("release a hold", 0, (id) => `/api/orders/${id}/release-hold`),
    onPlaced("cancel", 0, (id) => `/api/orders/${id}/cancel`),
    {
      step: "worker",
      run: async () => {
        const worker = await startService(site.databaseUrl, postgres.dataDir, { ROLES: "worker" });
        await isDone(site);
        await stop(worker);
      },
    },
    onPlaced("ship", REPEATS, (id) => `/api/orders/${id}/ship`, { carrier: "DHL" }),
    onPlaced("complete", REPEATS, (id) => `/api/orders/${id}/complete`),
    onPlaced("return", REPEATS, (id) => `/api/orders/${id}/return`),
    onPlaced("erase personal data", REPEATS, (id) => `/api/orders/${id}/erase-personal-data`),
    {
      step: "metrics",
      run: () =>
        repeat(REPEATS, async () => void (await fetch(`${site.service.backOfficeUrl}/metrics`)).text()),
    },
  ];
}

const orderBody = (template: string, number: number): object =>
  JSON.parse(template.replaceAll("{id}", `measured-${number}`)) as object; // It is an object's JSON.

type Client = (method: string, path: string, body?: object) => Promise<unknown>;

const clientOf =
  (url: string, key: string): Client =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && !MISSING.test(path))
      throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null;
  };

async function repeat(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 1) await work();
}

const WORKER_MS_MAX = 300_000;

/** Resolves when every day is counted and nothing is due, so that each job has run. */
async function isDone({ db }: Site): Promise<void> {
  const endsAt = performance.now() + WORKER_MS_MAX;
  for (;;) {
    const [row] = await db.query<{ isDone: boolean }>({
      name: "bench-worker-is-done",
      text: `
        select not exists (select from due_deliveries) and not exists (select from due_payments)
           and exists (select from counted_days) and not exists (select from counted_days where counted_at is null)
           and not exists (select from orders where status = 'NEW' and not test_mode)
           and not exists (
             select from orders
             where status = 'ACCEPTED' and not test_mode and routed_at is null
               and not hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}') as "isDone"`,
      values: [],
    });
    if (row?.isDone) return;
    if (performance.now() > endsAt) throw new Error("The worker has not done all its work.");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
