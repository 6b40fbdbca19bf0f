import { ConfigError } from "../../platform/config.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { listKeyIdsInUse } from "./reseal-secrets-sql.ts";

/**
 * To be asked at start: without a key that the database's secrets are sealed with, deliveries could not be signed, and
 * nobody would know before the first partner complained. @throws ConfigError naming the missing keys by their ids
 */
export async function checkSecretKeys(db: Queryable, secrets: SecretBox, now: Date): Promise<void> {
  const missing = (await listKeyIdsInUse(db, now)).filter((keyId) => !secrets.knows(keyId));
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(
      (keyId) =>
        `WEBHOOK_SECRET_KEYS lacks the key ${keyId}, with which signing secrets in the database are sealed: put it back, behind the newest one. A key that the service made for itself is in DATA_DIR/webhook-secret-key.`,
    ),
  );
}
