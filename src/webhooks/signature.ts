import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** A new signing secret of an endpoint: `whsec_` and 32 random bytes in base64, the form that partners' libraries take. */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString("base64");

type Signable = {
  /** The event's id: the same on every try, so that the partner can tell a repetition. It holds no dot. */
  id: string;
  /** When this try is sent; receivers refuse what is too old. Sent and signed in whole seconds. */
  timestamp: Date;
  /** Exactly the text that is sent. */
  body: string;
  /** Newest first; during a rotation the old one signs along, and the partner's library takes either. */
  secrets: readonly string[];
};

export type SignedHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/** The headers that let a partner prove who sent a body and when: Standard Webhooks 1.0.0, symmetric (`v1`). */
export function signedHeaders({ id, timestamp, body, secrets }: Signable): SignedHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const signed = `${id}.${seconds}.${body}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets.map((secret) => `v1,${signatureOf(signed, secret)}`).join(" "),
  };
}

const signatureOf = (text: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64"))
    .update(text)
    .digest("base64");
