/**
 * Programs that use a generated client `./<generator>-client.ts`. Each has the same short conversation with the service,
 * and compiles only if the client has precise types: a problem narrows by its `code`, and an event by its `type`.
 */
export type Conversation = {
  created: number;
  status: string;
  existingOrderId: string;
  rule: string;
  eventTypes: string[];
  orderIdsOfEvents: string[];
};

/** What is the same for all generators. `call` is what the generator's own client returns for each request. */
const order = `{
  externalOrderId: "web-1", testMode: true, lines: [{ productId, quantity: 2 }],
  shippingAddress: {
    firstName: "Ada", lastName: "Lovelace", address1: "12 St James Square", city: "London", zip: "SW1Y 4JH",
    countryCode: "GB",
  },
}`;

const narrowing = `
function existingOrderId(problem: Problem): string {
  // @ts-expect-error Only some problems have this member.
  problem.orderId;
  return problem.code === "order-already-exists" ? (problem.orderId ?? "a real order") : \`unexpected \${problem.code}\`;
}
function refusedBy(problem: Problem): "order_on_hold" | "unshipped_lines" | undefined {
  if (problem.code !== "transition-refused") return undefined;
  const { rule } = problem;
  return rule === "order_on_hold" || rule === "unshipped_lines" ? rule : undefined;
}
function orderIdOf(event: Event): string {
  switch (event.type) {
    case "order.created":
      return event.data.order.id;
    case "order.shipmentCreated":
      return event.data.shipment.id;
    case "product.published":
      // @ts-expect-error A product's event has no order.
      event.data.order;
      return event.data.product.id;
    default:
      return "";
  }
}
`;

const result = `{
    created: first.status,
    status: read.status,
    existingOrderId: existingOrderId(second),
    rule: String(refusedBy(refused)),
    eventTypes: events.map(({ type }) => type),
    orderIdsOfEvents: events.map(orderIdOf),
  }`;

const ORVAL = `
import * as client from "./orval-client.ts";
import type { Event, Problem } from "./orval-client.ts";
${narrowing}
export async function converse(_api: string, key: string, productId: string) {
  const headers = { authorization: \`Bearer \${key}\` };
  const first = await client.createOrder(${order}, { headers });
  const again = await client.createOrder(${order}, { headers: { ...headers, "idempotency-key": "other" } });
  if (again.status !== 409) throw new Error(String(again.status));
  const second = again.data;
  const { status, data: read } = await client.getOrder("web-1", { headers });
  if (status !== 200) throw new Error(read.code);
  const answer = await client.transitionTestOrder("web-1", { transition: "complete" }, { headers });
  if (answer.status !== 409) throw new Error(String(answer.status));
  const refused = answer.data;
  const page = await client.listEvents(undefined, { headers });
  if (page.status !== 200) throw new Error(page.data.code);
  const events = page.data.data;
  return ${result};
}
`;

const OAZAPFTS = `
import * as client from "./oazapfts-client.ts";
import type { Event, Problem } from "./oazapfts-client.ts";
${narrowing}
export async function converse(api: string, key: string, productId: string) {
  client.defaults.baseUrl = api;
  client.defaults.headers = { authorization: \`Bearer \${key}\` };
  const first = await client.createOrder(${order});
  const again = await client.createOrder(${order}, { idempotencyKey: "other" });
  if (again.status !== 409) throw new Error(String(again.status));
  const second = again.data;
  const { status, data: read } = await client.getOrder("web-1");
  if (status !== 200) throw new Error(read.code);
  const answer = await client.transitionTestOrder("web-1", { transition: "complete" });
  if (answer.status !== 409) throw new Error(String(answer.status));
  const refused = answer.data;
  const page = await client.listEvents();
  if (page.status !== 200) throw new Error(page.data.code);
  const events = page.data.data;
  return ${result};
}
`;

const SWAGGER_TYPESCRIPT_API = `
import { Api, type Event, type HttpResponse, type Problem, TestOrderTransition } from "./swagger-typescript-api-client.ts";
${narrowing}
/** This generator's clients throw responses that are not successes. */
const problemOf = (call: Promise<unknown>): Promise<Problem> =>
  call.then(
    () => Promise.reject(new Error("A problem was expected.")),
    (response: HttpResponse<unknown, Problem>) => response.error,
  );

export async function converse(api: string, key: string, productId: string) {
  const { v1 } = new Api({ baseUrl: api, baseApiParams: { headers: { authorization: \`Bearer \${key}\` } } });
  const first = await v1.createOrder(${order});
  const second = await problemOf(v1.createOrder(${order}, { headers: { "idempotency-key": "other" } }));
  const { data: read } = await v1.getOrder("web-1");
  const refused = await problemOf(v1.transitionTestOrder("web-1", { transition: TestOrderTransition.Complete }));
  const { data: { data: events } } = await v1.listEvents({});
  return ${result};
}
`;

/** By the generator. */
export const CONVERSATIONS: Readonly<Record<string, string>> = {
  orval: ORVAL,
  oazapfts: OAZAPFTS,
  "swagger-typescript-api": SWAGGER_TYPESCRIPT_API,
};
