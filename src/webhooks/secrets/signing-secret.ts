import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** A new signing secret: `whsec_` and 32 random bytes in base64, the form that Standard Webhooks libraries take. */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString("base64");

/** Prepares a signing secret once. Preparing it for every signature costs several times as much. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64"));
