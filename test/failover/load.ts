import { setTimeout as delay } from "node:timers/promises";
import { ADDRESS } from "../support/address.ts";
import type { Partner, Service } from "./services.ts";

/** Together about 20 orders a second over two services, where the machine is not busy with something else. */
const CLIENTS_PER_SERVICE = 4;
const PAUSE_MS = 350;
const RETRY_MS = 200;
/** Longer than any response of the service takes. */
const RESPONSE_MS = 30_000;
const CANCEL_EVERY = 3;

export type PlacedOrder = { readonly externalId: string; readonly id: string; canceled: boolean };

type Acknowledgement = { readonly service: string; readonly sentAtMs: number; readonly atMs: number };

/** What the clients have seen. */
export type Load = {
  readonly orders: readonly PlacedOrder[];
  /** First and repeated creations with 2xx, in the order of their responses. */
  readonly acknowledgements: readonly Acknowledgement[];
  /** How many responses had each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Everything that a partner must not see. */
  readonly faults: readonly string[];
  /** Creations that a repetition found, so that the outcome of a commit was unknown before. */
  repeated(): number;
  stop(): Promise<void>;
};

type Answer = { readonly status: number; readonly body: { readonly id?: string; readonly status?: string } };

/** Clients that place, read and cancel orders, and repeat what got 503, as a partner does. */
export function startLoad(services: readonly Service[], { key, productId }: Partner): Load {
  const orders: PlacedOrder[] = [];
  const acknowledgements: Acknowledgement[] = [];
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  let repeated = 0;
  let isStopping = false;

  /** Repeats a request at one service after the other, until its response is not 503. */
  async function persist(first: number, method: string, path: string, body?: object): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      // A client's first two attempts go to its own service: that shows the outage of each.
      const service = services[(first + (attempt >> 1)) % services.length] as Service; // The remainder is within.
      const sentAtMs = performance.now();
      const answer = await send(service, method, path, body);
      if (answer !== null && answer.status !== 503) {
        if (body !== undefined && answer.status < 300)
          acknowledgements.push({ service: service.name, sentAtMs, atMs: performance.now() });
        return answer;
      }
      await delay(RETRY_MS);
    }
  }

  async function send(service: Service, method: string, path: string, body?: object): Promise<Answer | null> {
    const what = `${method} ${path} at ${service.name}`;
    try {
      const response = await fetch(service.api + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(RESPONSE_MS),
      });
      const text = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.status === 503 && response.headers.get("retry-after") === null)
        faults.push(`${what}: 503 without Retry-After`);
      if (![200, 201, 503].includes(response.status)) faults.push(`${what}: ${response.status} ${text}`);
      return { status: response.status, body: JSON.parse(text) };
    } catch (error) {
      faults.push(`${what}: no response. ${error}`);
      return null;
    }
  }

  async function placeOne(own: number, externalId: string, isCanceled: boolean): Promise<void> {
    const created = await persist(own, "POST", "/v1/orders", anOrder(externalId, productId));
    if (created.status === 200) repeated += 1;
    if (created.body.id === undefined) return; // Reported with its status.
    const order = { externalId, id: created.body.id, canceled: false };
    orders.push(order);
    const read = await persist(own + 1, "GET", `/v1/orders/${order.id}`);
    if (read.body.id !== order.id || read.body.status !== "NEW")
      faults.push(`${order.id} is ${read.body.status} right after its creation`);
    if (!isCanceled) return;
    const canceled = await persist(own, "POST", `/v1/orders/${externalId}/cancel`);
    order.canceled = canceled.body.status === "CANCELED";
  }

  async function client(number: number): Promise<void> {
    for (let count = 1; !isStopping; count += 1) {
      await placeOne(number, `client-${number}-${count}`, count % CANCEL_EVERY === 0);
      await delay(PAUSE_MS);
    }
  }

  const clients = Array.from({ length: CLIENTS_PER_SERVICE * services.length }, (_, number) =>
    client(number),
  );
  return {
    orders,
    acknowledgements,
    statuses,
    faults,
    repeated: () => repeated,
    async stop() {
      isStopping = true;
      await Promise.all(clients);
    },
  };
}

const anOrder = (externalOrderId: string, productId: string): object => ({
  externalOrderId,
  lines: [{ productId, quantity: 1 }],
  shippingAddress: ADDRESS,
});
