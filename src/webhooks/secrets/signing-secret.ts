import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** A secret of an endpoint as it is stored. */
export type StoredSecret = {
  /** Encrypted. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** Null for the newest secret. */
  readonly expiresAt: Date | null;
};

/** The stored secrets of an endpoint, newest first. */
export type EndpointSecrets = {
  readonly endpointCreatedAt: Date;
  readonly secrets: readonly StoredSecret[];
};

/** A new signing secret: `whsec_` and 32 random bytes in base64, the form that Standard Webhooks libraries take. */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString("base64");

/** Prepares a signing secret once. Preparing it for every signature costs several times as much. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64"));
