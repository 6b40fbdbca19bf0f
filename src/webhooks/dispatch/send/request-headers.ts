import { createHmac, type KeyObject } from "node:crypto";
import { readVersion } from "../../../platform/config.ts";

/** The headers that every request has. */
export const COMMON_HEADERS = {
  "content-type": "application/json",
  "user-agent": `PartnerOrders/${readVersion()}`,
} as const;

type Signable = {
  /** The event's id: the same for every attempt, so that the partner can recognize duplicates. It contains no dot. */
  id: string;
  /** When this attempt is sent, in whole seconds. Receivers reject requests that are too old. */
  timestamp: Date;
  /** The exact body that is sent. */
  body: string | Buffer;
  /** Newest first. During a rotation the older keys sign as well. The partner's library accepts any of the signatures. */
  keys: readonly KeyObject[];
};

export type SignedHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/** The headers by which a partner verifies who sent a body and when: Standard Webhooks 1.0.0, symmetric (`v1`). */
export function signedHeaders({ id, timestamp, body, keys }: Signable): SignedHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const prefix = `${id}.${seconds}.`;
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": keys.map((key) => `v1,${signatureOf(prefix, body, key)}`).join(" "),
  };
}

const signatureOf = (prefix: string, body: string | Buffer, key: KeyObject): string =>
  createHmac("sha256", key).update(prefix).update(body).digest("base64");
