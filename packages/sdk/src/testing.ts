/**
 * Signed samples of every event, for the tests of your receiver. They need no network.
 *
 * @packageDocumentation
 */
import { SAMPLES } from "./generated/samples.ts";
import type { Event } from "./generated/types.ts";
import { keyOf, signedText, TEXT } from "./secret.ts";

/** A type of event. */
export type SampleType = Event["type"];

/** All types of events, the standard ones first. */
export const sampleTypes: readonly SampleType[] = Object.keys(SAMPLES) as SampleType[]; // The table's own keys.

/** How a sample differs from the example of its type. */
export type SampleOptions = {
  /** The secret of the endpoint, or both during a rotation. */
  readonly secret: string | readonly string[];
  /** Members of the event instead of those of the example, such as `id` and `sequence`. */
  readonly event?: Partial<Omit<Event, "type">>;
  /** When it was sent, in milliseconds since 1970. Default: now. One of ten minutes ago must be rejected. */
  readonly sentAt?: number;
};

/** A signed request, as your server would receive it. */
export type SignedSample = {
  /** Of the request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text that is signed. */
  readonly body: string;
};

/** The example of a type, as the documentation shows it. Each call returns a copy. */
export const sampleEvent = <Type extends SampleType>(type: Type): Extract<Event, { type: Type }> =>
  structuredClone(SAMPLES[type]) as unknown as Extract<Event, { type: Type }>; // A test compares it with the schema.

/**
 * A sample as the service would send it.
 *
 * ```ts
 * const { headers, body } = await signedSample("order.completed", { secret });
 * const response = await app.inject({ method: "POST", url: "/webhooks", headers, body });
 * ```
 */
export async function signedSample(type: SampleType, options: SampleOptions): Promise<SignedSample> {
  const event = { ...sampleEvent(type), ...options.event };
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor((options.sentAt ?? Date.now()) / 1_000));
  const signatures = await Promise.all(
    [options.secret].flat().map(async (secret) => {
      const text = signedText(event.id, timestamp, TEXT.encode(body));
      const signature = new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(secret), text));
      return `v1,${btoa(String.fromCharCode(...signature))}`;
    }),
  );
  return {
    headers: {
      "content-type": "application/json",
      "user-agent": "PartnerOrders/sample",
      "webhook-id": event.id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.join(" "),
    },
    body,
  };
}

/** A sample as a `Request` of the web, for Hono, Next.js, Bun, Deno and workers. */
export async function sampleRequest(
  type: SampleType,
  options: SampleOptions & { readonly url?: string },
): Promise<Request> {
  const { headers, body } = await signedSample(type, options);
  return new Request(options.url ?? "http://localhost/webhooks", { method: "POST", headers, body });
}
