import type { Context } from "../platform/context.ts";
import { before, MINUTE_MS } from "../platform/time.ts";
import type { Token } from "./token.ts";
import { recordTokenUse } from "./tokens-sql.ts";

/** A later use within this time is not written. */
const LAST_USE_INTERVAL_MS = 5 * MINUTE_MS;

/** Records that a token was used. A failure is logged only: the request itself can succeed without it. */
export async function noteTokenUse(
  { db, log }: Pick<Context, "db" | "log">,
  { id, lastUsedAt }: Pick<Token, "id" | "lastUsedAt">,
  now: Date,
): Promise<void> {
  const staleBefore = before(now, LAST_USE_INTERVAL_MS);
  if (lastUsedAt !== null && lastUsedAt > staleBefore) return;
  try {
    await recordTokenUse(db, id, now, staleBefore);
  } catch (err) {
    log.warn({ err }, "last use of token not recorded");
  }
}
