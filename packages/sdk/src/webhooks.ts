import type { Event } from "./generated/types.ts";
import { fromBase64, joined, keyOf, signedText, TEXT } from "./secret.ts";

/** A received request: the web's own, or its headers and the bytes of its body. */
export type ReceivedRequest =
  | Request
  | {
      /** `Headers`, or the object that Node, Express or Fastify make. */
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      /** As it was received. A body that was parsed and written again is not what was signed. */
      readonly body: string | Uint8Array | ArrayBuffer;
    };

/** How to verify. */
export type VerifyOptions = {
  /** How far the time of the request may be from now. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Bytes that a body may have. Default: 1 048 576, far more than any event has. */
  readonly bodyBytesMax?: number;
  /** The time, in milliseconds since 1970. Default: now. */
  readonly now?: number;
};

/** An event of a type that is newer than this SDK. */
export type UnknownEvent = Omit<Event, "type" | "data"> & {
  readonly type: "unknown";
  /** The type, as it was sent. */
  readonly sentType: string;
  /** What it is about. */
  readonly data: Readonly<Record<string, unknown>>;
};

/** A verified event. A `switch` over `type` narrows it. Return 2xx for `unknown` too. */
export type WebhookEvent = Event | UnknownEvent;

/** Why a request is not genuine. */
export type VerificationFailure =
  | "header-missing"
  | "timestamp-outside-tolerance"
  | "signature-mismatch"
  | "body-too-large"
  | "body-not-an-event";

/** A request that does not come from the service, or not as it was sent. Respond with its `status`, and store nothing. */
export class WebhookVerificationError extends Error {
  /** Why. `signature-mismatch`: another secret, or another body. */
  readonly reason: VerificationFailure;
  /** What to respond: 401, or 413 for a body that is too large. */
  readonly status: 401 | 413;

  constructor(reason: VerificationFailure) {
    super(`The webhook is not genuine: ${reason}`);
    this.name = "WebhookVerificationError";
    this.reason = reason;
    this.status = reason === "body-too-large" ? 413 : 401;
  }
}

/** A request has one signature, and during a rotation up to three. A stranger can send any number. */
const SIGNATURES_MAX = 10;
const TYPES: Readonly<Record<Event["type"], true>> = {
  "order.created": true,
  "order.canceled": true,
  "order.onHold": true,
  "order.onHoldReleased": true,
  "order.shipmentCreated": true,
  "order.shipmentReturned": true,
  "order.completed": true,
  "product.published": true,
  "order.accepted": true,
  "order.inProgress": true,
  "order.shipmentUpdated": true,
  "order.paymentFailed": true,
  "order.linesCanceled": true,
  "webhook.ping": true,
};

/**
 * Verifies a request of the service, as in Standard Webhooks 1.0.0, and returns its event. It compares in constant time. The body of
 * a `Request` is read, so it can be read only once.
 *
 * ```ts
 * const event = await webhooks.verify(request, process.env.WEBHOOK_SECRET);
 * switch (event.type) {
 *   case "order.shipmentCreated":
 *     return save(event.id, event.data.shipment.trackingUrl);
 * }
 * ```
 *
 * @param secrets of the endpoint, `whsec_…`. During a rotation both, so that it does not matter when the change arrives where.
 * @throws {WebhookVerificationError} if the request is not genuine
 * @throws {TypeError} if a secret has another form, or the body is no text and no bytes: the program is wrong
 */
export async function verify(
  received: ReceivedRequest,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, bodyBytesMax = 1_048_576, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = await Promise.all([secrets].flat().map(keyOf));
  if (keys.length === 0) throw new TypeError("A secret is needed.");
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(received.headers, name),
  );
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError("header-missing");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError("timestamp-outside-tolerance");
  const body = await bytesOf(received, bodyBytesMax);
  const signed = signedText(id, timestamp, body);
  const given = signatures
    .split(" ")
    .filter((one) => one.startsWith("v1,"))
    .slice(0, SIGNATURES_MAX)
    .map((one) => fromBase64(one.slice(3)))
    .filter((bytes) => bytes !== null);
  let isGenuine = false;
  for (const key of keys)
    for (const signature of given)
      isGenuine = (await crypto.subtle.verify("HMAC", key, signature, signed)) || isGenuine;
  if (!isGenuine) throw new WebhookVerificationError("signature-mismatch");
  return eventOf(body);
}

/** A header that was sent twice is in an array. The service sends none twice. */
function headerOf(headers: ReceivedRequest["headers"], name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const value = (headers as Exclude<typeof headers, Headers>)[name]; // Not the web's, which has that method.
  return typeof value === "string" ? value : null;
}

async function bytesOf(received: ReceivedRequest, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(received.body)) {
    size += chunk.length;
    // Anyone can send to the address, and a signature can be checked only at the end.
    if (size > bytesMax) throw new WebhookVerificationError("body-too-large");
    chunks.push(chunk);
  }
  return joined(...chunks);
}

async function* chunksOf(body: ReceivedRequest["body"]): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  if (typeof body === "string") yield TEXT.encode(body);
  else if (body instanceof Uint8Array) yield body;
  else if (body instanceof ArrayBuffer) yield new Uint8Array(body);
  else if (typeof (body as ReadableStream | undefined)?.getReader === "function") {
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  } else throw new TypeError("The body must be the received text or bytes, not what was parsed of them.");
}

/** What is signed is valid JSON of the service. A type that this SDK does not know is not lost. */
function eventOf(body: Uint8Array): WebhookEvent {
  let event: Event;
  try {
    event = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new WebhookVerificationError("body-not-an-event");
  }
  if (typeof event?.type !== "string") throw new WebhookVerificationError("body-not-an-event");
  return knownEvent(event);
}

/** The event, or one of type `unknown`. */
export const knownEvent = (event: Event): WebhookEvent =>
  Object.hasOwn(TYPES, event.type)
    ? event
    : ({ ...(event as Event), type: "unknown", sentType: event.type } as UnknownEvent); // The members that all events have.
