import { listKeyIdsOfCodes, resealCodes } from "../people/one-time-codes.ts";
import { type Config, ConfigError } from "../platform/config.ts";
import { readOrMakeSecret, requireSecretKey } from "../platform/data-dir.ts";
import type { Queryable } from "../platform/database/database.ts";
import { createSecretBox, type SecretBox } from "../platform/secret-box.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { listKeyIdsInUse, resealSecrets } from "../webhooks/endpoints/reseal-secrets.ts";

/**
 * Checks at start that all keys are configured with which secrets in the database are encrypted. Without one of them some
 * deliveries could not be signed, which would show only when a partner complains, and some people could not sign in.
 * @throws ConfigError with the ids of the missing keys
 * @throws SecretFileError if the file of the key is missing
 */
export async function openKeyring(
  config: Pick<Config, "webhookSecretKeys" | "dataDir">,
  db: Queryable,
  now: Date,
): Promise<SecretBox> {
  const keys = config.webhookSecretKeys ?? [await readSecretKey(config, db, now)];
  const secrets = createSecretBox(keys);
  // Read after the key: while it was made, another process may have encrypted the first secret with its own key.
  const missing = missingKeyIds(await listAllKeyIdsInUse(db, now), secrets);
  if (missing.length > 0) throw new ConfigError(missing.map(missingKey));
  return secrets;
}

/**
 * All processes that create or send deliveries need the same key. None is made for a database with secrets:
 * it would be the wrong one, and the next backup would replace the last good copy with it.
 */
async function readSecretKey(
  { dataDir }: Pick<Config, "dataDir">,
  db: Queryable,
  now: Date,
): Promise<Buffer> {
  const inUse = await listAllKeyIdsInUse(db, now);
  const key =
    inUse.length === 0 ? readOrMakeSecret(dataDir, "webhook-secret-key") : requireSecretKey(dataDir, inUse);
  return Buffer.from(await key, "base64url");
}

const missingKey = (keyId: string): string =>
  `WEBHOOK_SECRET_KEYS lacks the key ${keyId}, with which secrets in the database are encrypted. Add it again, after the newest key. A key that the service created is in DATA_DIR/webhook-secret-key. If no copy is left: docs/operation.md, The key is lost.`;

/** The ids of all keys with which signing secrets, and one-time codes of people, are encrypted. */
export async function listAllKeyIdsInUse(db: Queryable, now: Date): Promise<string[]> {
  const ids = new Set([...(await listKeyIdsInUse(db, now)), ...(await listKeyIdsOfCodes(db))]);
  return [...ids].sort();
}

/** Those of them that are not among the keys. */
export const missingKeyIds = (inUse: readonly string[], keys: { knows(keyId: string): boolean }): string[] =>
  inUse.filter((keyId) => !keys.knows(keyId));

/** Encrypts with the newest key everything that was encrypted with another one. Returns how many secrets, and codes of people. */
export const resealAll = async (context: WebhookContext, stopping?: AbortSignal): Promise<number> =>
  (await resealSecrets(context, stopping)) + (await resealCodes(context, stopping));
