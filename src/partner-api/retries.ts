import type { RouteDescription } from "../http/route.ts";

const UNKNOWN_OUTCOME = ["no-response", "500", "503"];

/**
 * How a client may repeat a request without asking. The description says it of each operation (`x-retry`), so the SDK, other clients and
 * docs/partners/retries.md follow one table (docs/design/sdk.md, "One table of retries"). `no-response` is also what a proxy returns instead of the service.
 */
export const RETRIES: Readonly<
  Record<RetryClass, { description: string; after: readonly string[]; done?: readonly string[] }>
> = {
  repeat: {
    description: "Repeat the same request: it has its effect once, however often it arrives.",
    after: ["429", ...UNKNOWN_OUTCOME],
  },
  "until-gone": {
    description:
      "Repeat the same request. 404 after an attempt without a known outcome means that it had succeeded.",
    after: ["429", ...UNKNOWN_OUTCOME],
    done: ["404"],
  },
  rejected: {
    description:
      "A repetition could act twice. Repeat only what was rejected before it began: 429, unless its `limit` is `waiting-requests`.",
    after: ["429"],
  },
};

export type RetryClass = NonNullable<RouteDescription["retry"]>;

/** A read has no effect. What a route does not say about itself could act twice. */
export const retryOf = ({ method, retry }: RouteDescription): RetryClass =>
  retry ?? (method === "GET" ? "repeat" : "rejected");
