import type { ClientOptions } from "../../packages/sdk/src/index.ts";
import { PartnerOrders } from "../../packages/sdk/src/index.ts";
import { ADDRESS } from "./address.ts";

/** What a service that is replaced responds with: a status, a body and headers, or an error instead of a response. */
export type Canned = { status?: number; body?: unknown; headers?: Record<string, string> } | Error;

export type SentRequest = { method: string; path: string; headers: Headers; body: string | null };

/** A client whose requests get these responses in turn, the last one for all that follow, and what it has sent. */
export function cannedClient(
  responses: readonly Canned[],
  options: Partial<ClientOptions> = {},
): { client: PartnerOrders; sent: SentRequest[] } {
  const sent: SentRequest[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const body = init?.body === undefined ? null : String(init.body);
    sent.push({ method: request.method, path: pathname + search, headers: request.headers, body });
    const canned = responses[Math.min(sent.length, responses.length) - 1];
    if (canned === undefined || canned instanceof Error) throw canned ?? new TypeError("fetch failed");
    const { status = 200, body: replied = {}, headers = {} } = canned;
    const text = typeof replied === "string" ? replied : JSON.stringify(replied);
    return new Response(status === 204 ? null : text, { status, headers });
  };
  const client = new PartnerOrders({ baseUrl: "https://orders.example", key: "key_1", fetch, ...options });
  return { client, sent };
}

/** The response to a rejected request. */
export const problem = (status: number, code: string, members: object = {}, headers = {}): Canned => ({
  status,
  body: {
    type: `https://orders.example/errors/${code}`,
    code,
    title: "-",
    status,
    detail: "-",
    instance: "/",
    ...members,
  },
  headers: { "x-request-id": "request-1", ...headers },
});

/** An order of a product, as a partner sends it. */
export const anOrderOf = (productId: string, externalOrderId: string) => ({
  externalOrderId,
  shippingAddress: ADDRESS,
  lines: [{ productId, quantity: 1 }],
});

/** Everything that an iterable yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
