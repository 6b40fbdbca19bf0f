import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { setMadeParts } from "../../audit/made-parts-sql.ts";
import type { LockMaker } from "../../audit/maker.ts";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { after, HOUR_MS } from "../../platform/time.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { type Endpoint, type EndpointKey, endpointFact } from "./endpoint.ts";
import { lockEndpoint, recordEndpoint } from "./endpoints-sql.ts";

/** Gives an endpoint a new signing secret, which is stored encrypted. Returns it: it is shown this once. */
export async function issueSecret(
  tx: Queryable,
  { newId, secrets }: WebhookContext,
  endpoint: EndpointKey,
  now: Date,
): Promise<string> {
  const secret = newSigningSecret();
  const sealed = secrets.seal(secret, endpoint.id);
  await insertSecret(tx, endpoint, { id: newId(), sealed, createdAt: now });
  return secret;
}

export const OVERLAP_HOURS_DEFAULT = 24;
export const OVERLAP_HOURS_MAX = 168;

/** Older secrets that sign beside the newest. Each adds a signature to every request. */
const OLDER_SECRETS_MAX = 2;

/**
 * Gives an endpoint a new signing secret and returns it, this once. The older secrets also sign for `overlapHours`, but none of
 * them longer than before; 0 ends them at once. Concurrent rotations wait for each other, so the secret of the last one is the
 * newest (docs/design/deliveries.md, "Endpoints"). Null when there is no such endpoint.
 */
export async function rotateSecret(
  context: WebhookContext,
  key: EndpointKey,
  overlapHours: number,
  lockMaker: LockMaker,
  by: Initiator,
): Promise<{ endpoint: Endpoint; secret: string; previousExpiresAt: Date | null } | Problem | null> {
  const rotated = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const maker = await lockMaker(tx);
    if (isProblem(maker)) return maker;
    const now = context.clock.now();
    const previousExpiresAt = after(now, Math.round(overlapHours * HOUR_MS));
    await endSecrets(tx, endpoint, previousExpiresAt);
    await deleteOldSecrets(tx, endpoint, { now, keptMax: OLDER_SECRETS_MAX });
    const secret = await issueSecret(tx, context, endpoint, now);
    await setMadeParts(tx, endpoint, ["secret"], maker);
    recordEndpoint(tx, now, endpoint);
    await recordAudit(tx, context, by, endpointFact(endpoint, { overlapHours }));
    return { endpoint, secret, previousExpiresAt: previousExpiresAt > now ? previousExpiresAt : null };
  });
  if (rotated !== null && !isProblem(rotated)) context.signals.send("endpoints_changed", [key]);
  return rotated;
}

type SealedSecret = { id: string; sealed: string; createdAt: Date };

/** Writes the newest secret of an endpoint. Only one secret has no expiry; the database rejects a second one. */
async function insertSecret(
  tx: Queryable,
  endpoint: EndpointKey,
  { id, sealed, createdAt }: SealedSecret,
): Promise<void> {
  await tx.query({
    name: "insert-secret",
    text: `
      insert into webhook_secrets (merchant_id, connection_id, endpoint_id, id, sealed, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, id, sealed, createdAt],
  });
}

/** Makes all secrets of an endpoint expire. One that expires earlier is not changed. */
async function endSecrets(tx: Queryable, endpoint: EndpointKey, expiresAt: Date): Promise<void> {
  await tx.query({
    name: "end-secrets",
    text: `
      update webhook_secrets
      set expires_at = least(coalesce(expires_at, $4), $4)
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, expiresAt],
  });
}

/** Deletes the expired secrets of an endpoint, and all others but the newest few. */
async function deleteOldSecrets(
  tx: Queryable,
  endpoint: EndpointKey,
  { now, keptMax }: { now: Date; keptMax: number },
): Promise<void> {
  await tx.query({
    name: "delete-old-secrets",
    text: `
      delete from webhook_secrets
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3
        and (expires_at <= $4
             or id not in (
               select s.id
               from webhook_secrets s
               where s.merchant_id = $1 and s.endpoint_id = $3
               order by s.created_at desc, s.id desc
               limit $5))`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now, keptMax],
  });
}

/** The signing secrets of an endpoint that are stored, newest first. None if it is deleted. */
export async function readSecrets(db: Queryable, endpoint: EndpointKey): Promise<EndpointSecrets> {
  const rows = await db.query<StoredSecret & { endpointCreatedAt: Date }>({
    name: "read-secrets",
    text: `
      select s.sealed, s.created_at as "createdAt", s.expires_at as "expiresAt", w.created_at as "endpointCreatedAt"
      from webhook_endpoints w
      join webhook_secrets s on s.merchant_id = w.merchant_id and s.connection_id = w.connection_id and s.endpoint_id = w.id
      where w.merchant_id = $1 and w.connection_id = $2 and w.id = $3
      order by s.created_at desc, s.id desc`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
  return { endpointCreatedAt: rows[0]?.endpointCreatedAt ?? new Date(0), secrets: rows };
}

export async function deleteSecrets(tx: Queryable, endpoint: EndpointKey): Promise<void> {
  await tx.query({
    name: "delete-secrets",
    text: "delete from webhook_secrets where merchant_id = $1 and connection_id = $2 and endpoint_id = $3",
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
}

const PREFIX = "whsec_";

/** A secret of an endpoint as it is stored. */
type StoredSecret = {
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

/**
 * The secrets that signed an attempt, newest first. Null if that is not known for certain
 * (docs/design/signing.md, "The request of an attempt"): one of them may have been deleted, or a worker may not have known
 * about a rotation yet.
 * @param staleMs how long after a rotation a worker may sign as before it
 */
export function signingSecretsAt(
  { endpointCreatedAt, secrets }: EndpointSecrets,
  at: Date,
  staleMs: number,
): readonly StoredSecret[] | null {
  const earlier = secrets.filter(({ createdAt }) => createdAt <= at);
  const newest = earlier[0];
  if (newest === undefined) return null;
  const isFirst = ({ createdAt }: StoredSecret) => createdAt <= endpointCreatedAt;
  const ageMs = at.getTime() - newest.createdAt.getTime();
  if (!isFirst(newest) && ageMs < staleMs) return null;
  const hasJustExpired = earlier.some(
    ({ expiresAt }) => expiresAt !== null && expiresAt <= at && at.getTime() - expiresAt.getTime() < staleMs,
  );
  if (hasJustExpired) return null;
  const valid = earlier.filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  const isComplete =
    earlier.some(isFirst) ||
    valid.length > OLDER_SECRETS_MAX ||
    ageMs >= OVERLAP_HOURS_MAX * HOUR_MS + staleMs;
  return isComplete && valid.length > 0 ? valid : null;
}
