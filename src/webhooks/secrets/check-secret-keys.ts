import { ConfigError } from "../../platform/config.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { listKeyIdsInUse } from "./reseal-secrets-sql.ts";

/**
 * Checks at start that all keys are configured with which signing secrets in the database are encrypted. Without one of
 * them some deliveries could not be signed, which would show only when a partner complains.
 * @throws ConfigError with the ids of the missing keys
 */
export async function checkSecretKeys(db: Queryable, secrets: SecretBox, now: Date): Promise<void> {
  const missing = (await listKeyIdsInUse(db, now)).filter((keyId) => !secrets.knows(keyId));
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(
      (keyId) =>
        `WEBHOOK_SECRET_KEYS lacks the key ${keyId}, with which signing secrets in the database are encrypted. Add it again, after the newest key. A key that the service created is in DATA_DIR/webhook-secret-key; docs/operation.md says what to do if it is lost.`,
    ),
  );
}
