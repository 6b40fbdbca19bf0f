import { keyOf, TEXT } from "./secret.ts";
import type { WebhookEvent } from "./webhooks.ts";

/** What your program has stored of an order. */
export type HandledOrder = {
  /** Its status, from the event with the highest `sequence`. */
  readonly status: string;
  /** The highest `sequence` that arrived. */
  readonly sequence: number;
  /** How many of its events your program has acted on. A duplicate counts once, and an older event may count or not. */
  readonly handled: number;
};

/** The body of the response to a `webhook.ping`. Empty if the ping asks nothing. */
export type PingAnswer = {
  /** The proof that your program has the secret. */
  readonly challenge?: string;
  /** The orders that were asked for and that your program knows, by id. */
  readonly orders?: Readonly<Record<string, HandledOrder>>;
};

/**
 * Answers the questions of a certification, which are `webhook.ping` events. Return it as JSON with status 200:
 *
 * ```ts
 * if (event.type === "webhook.ping") return Response.json(await webhooks.answer(event, secret, findOrder));
 * ```
 *
 * @param event that `verify` has returned
 * @param secret of the endpoint, `whsec_…`
 * @param findOrder what your program has stored of a test order; null if it does not know it
 */
export async function answer(
  event: WebhookEvent,
  secret: string,
  findOrder: (orderId: string) => HandledOrder | null | Promise<HandledOrder | null>,
): Promise<PingAnswer> {
  const question = event.type === "webhook.ping" ? event.data.certification : undefined;
  if (question === undefined) return {};
  const signed = TEXT.encode(`certification.${question.challenge}`);
  const proof = new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(secret), signed));
  const orders: Record<string, HandledOrder> = {};
  for (const id of question.orderIds) {
    const order = await findOrder(id);
    if (order !== null) orders[id] = order;
  }
  return { challenge: Array.from(proof, (byte) => byte.toString(16).padStart(2, "0")).join(""), orders };
}
