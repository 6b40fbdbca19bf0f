import { HOUR_MS } from "../../platform/time.ts";
import { OLDER_SECRETS_MAX, OVERLAP_HOURS_MAX } from "./rotate-secret.ts";
import type { EndpointSecrets, StoredSecret } from "./signing-secret.ts";

/**
 * The secrets that signed an attempt, newest first. Null if that is not known for certain (decision 0109): one of them may
 * have been deleted, or a worker may not have known about a rotation yet.
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
