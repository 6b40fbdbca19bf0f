import { createHash } from "node:crypto";
import { before, MINUTE_MS } from "../../platform/time.ts";
import type { PeopleContext } from "../context.ts";
import { countAttempts, forgetAttempts } from "./attempts-sql.ts";

/** All limits are of this time. */
export const WINDOW_MS = 15 * MINUTE_MS;
/** Attempts of one network: a whole company can be behind one address. */
export const NETWORK_MAX = 100;
/** Attempts of one network, or of one known browser, at one account. */
export const ACCOUNT_OF_NETWORK_MAX = 10;
/** Attempts at one account from browsers on which its person has never signed in, of all networks together. */
export const ACCOUNT_MAX = 100;

/** Who tries, and what. */
export type Attempt = {
  readonly network: string;
  /** The mail address that is tried. Null: none, as with a link. */
  readonly account: string | null;
  /** The browser, if the person of this account has signed in on it before. Null: it has not. */
  readonly device: string | null;
};

type Bucket = { readonly bucket: string; readonly max: number };

/** The database does not learn the addresses: it needs only to recognize them. */
const digest = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/**
 * The buckets of an attempt. A stranger who tries many passwords uses up the bucket of the account, but not that of the
 * browsers on which its person signs in (decision 0117).
 */
export function bucketsOf({ network, account, device }: Attempt): Bucket[] {
  const ofNetwork = { bucket: digest("network", network), max: NETWORK_MAX };
  if (account === null) return [ofNetwork];
  const own = narrowBucket({ network, account, device });
  return device === null
    ? [ofNetwork, own, { bucket: digest("account", account), max: ACCOUNT_MAX }]
    : [ofNetwork, own];
}

const narrowBucket = ({ network, account, device }: Attempt): Bucket => ({
  bucket: device === null ? digest("network and account", network, account ?? "") : digest("device", device),
  max: ACCOUNT_OF_NETWORK_MAX,
});

/** Counts an attempt. Returns how long to wait before the next one, in milliseconds; 0: it may be made. */
export async function takeAttempt(
  { db, clock }: Pick<PeopleContext, "db" | "clock">,
  attempt: Attempt,
): Promise<number> {
  const now = clock.now();
  const buckets = bucketsOf(attempt);
  const counted = await countAttempts(
    db,
    buckets.map(({ bucket }) => bucket),
    now,
    before(now, WINDOW_MS),
  );
  const waits = counted.flatMap(({ bucket, count, windowStart }) => {
    const max = buckets.find((candidate) => candidate.bucket === bucket)?.max ?? 0;
    return count > max ? [windowStart.getTime() + WINDOW_MS - now.getTime()] : [];
  });
  return Math.max(0, ...waits);
}

/** After a success: attempts at this account from this browser or network count from the beginning. */
export const attemptSucceeded = ({ db }: Pick<PeopleContext, "db">, attempt: Attempt): Promise<void> =>
  forgetAttempts(db, [narrowBucket(attempt).bucket]);
