import { ConfigError } from "../../platform/config.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { listKeyIdsInUse } from "./reseal-secrets-sql.ts";

/**
 * Called at start: without a key that encrypts the database's secrets, deliveries could not be signed, and only a
 * partner's complaint would show it. @throws ConfigError that names the missing keys by their ids
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
