import { createHash } from "node:crypto";
import type { Queryable } from "../platform/database/database.ts";
import { before, MINUTE_MS } from "../platform/time.ts";
import type { PeopleContext } from "./person.ts";

/** All limits are of this time. */
export const WINDOW_MS = 15 * MINUTE_MS;
/** Attempts of one network: a whole company can be behind one address. */
export const NETWORK_MAX = 100;
/** Attempts of one network, or of one known browser, at one account. */
export const ACCOUNT_OF_NETWORK_MAX = 10;
/** Attempts at one account from browsers on which its person has never signed in, of all networks together. */
export const ACCOUNT_MAX = 100;
/** Attempts at one account from all known browsers together: each of them costs the processor a hash of a password. */
export const ACCOUNT_OF_KNOWN_MAX = 100;
/** New passwords that are sent with one link. */
const LINK_MAX = 10;

/** One-time codes that are sent at the sign-ins of a person, after right passwords. */
const CODES_MAX = 10;

/** Who tries, and what. */
export type Attempt = {
  readonly purpose: "password" | "reset";
  readonly network: string;
  /** The mail address that is tried. */
  readonly account: string;
  /** The browser, if the person of this account has signed in on it before. Null: it has not. */
  readonly device: string | null;
};

type Bucket = { readonly bucket: string; readonly max: number };

/** The database does not learn the addresses: it needs only to recognize them. */
const digest = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/**
 * The buckets of an attempt. What strangers use up is nothing of the browsers on which the person signs in, whether they come
 * from the same address or try the same account (decisions 0117 and 0200). Requests for a link are not limited by account: the
 * mails are, and a person who gets no further one has links already.
 */
export function bucketsOf(attempt: Attempt): Bucket[] {
  const { purpose, network, account, device } = attempt;
  const own = narrowBucket(attempt);
  if (device !== null)
    return [own, { bucket: digest(purpose, "known browsers", account), max: ACCOUNT_OF_KNOWN_MAX }];
  const ofNetwork = { bucket: digest(purpose, "network", network), max: NETWORK_MAX };
  return purpose === "reset"
    ? [ofNetwork, own]
    : [ofNetwork, own, { bucket: digest(purpose, "account", account), max: ACCOUNT_MAX }];
}

const narrowBucket = ({ purpose, network, account, device }: Attempt): Bucket => ({
  bucket:
    device === null
      ? digest(purpose, "network and account", network, account)
      : digest(purpose, "device", device),
  max: ACCOUNT_OF_NETWORK_MAX,
});

/**
 * Counts an attempt. Returns how long to wait before the next one, in milliseconds; 0: it may be made. The first bucket is one for all
 * accounts, or of a known browser: an attempt beyond it counts in no other, so other and other accounts cause no further rows.
 */
export async function takeAttempt(context: Counting, attempt: Attempt): Promise<number> {
  const [first, ...others] = bucketsOf(attempt).map((bucket) => [bucket]);
  const waitMs = await countIn(context, first ?? []);
  return waitMs > 0 ? waitMs : countIn(context, others.flat());
}

/** Counts a new password that is sent with a valid link: each costs the processor a hash. */
export const takeUseOfLink = (context: Counting, tokenHash: Buffer): Promise<number> =>
  countIn(context, [bucketOfLink(tokenHash)]);

export const bucketOfLink = (tokenHash: Buffer): Bucket => ({
  bucket: digest("link", tokenHash.toString("base64url")),
  max: LINK_MAX,
});

/** Counts a one-time code of a sign-in. The library reads its own count before it compares, so codes at the same time would pass it. */
export const takeCode = (context: Counting, personId: string): Promise<number> =>
  countIn(context, [{ bucket: bucketOfCodes(personId), max: CODES_MAX }]);

/** After a right code: the next ones count from the beginning. */
export const codeSucceeded = ({ db }: Pick<PeopleContext, "db">, personId: string): Promise<void> =>
  forgetAttempts(db, [bucketOfCodes(personId)]);

const bucketOfCodes = (personId: string): string => digest("codes", personId);

type Counting = Pick<PeopleContext, "db" | "clock">;

async function countIn({ db, clock }: Counting, buckets: readonly Bucket[]): Promise<number> {
  const now = clock.now();
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

type AttemptRow = { bucket: string; count: number; window_start: Date };

/** Counts one more attempt in each bucket. A window that began at or before `staleBefore` begins again. */
export async function countAttempts(
  db: Queryable,
  buckets: readonly string[],
  now: Date,
  staleBefore: Date,
): Promise<{ bucket: string; count: number; windowStart: Date }[]> {
  const rows = await db.query<AttemptRow>({
    name: "count-person-attempts",
    text: `
      insert into person_attempts as a (bucket, count, window_start)
      select b.bucket, 1, $2
      from unnest($1::text[]) as b (bucket)
      order by b.bucket -- Two requests wait for each other's buckets in one order.
      on conflict (bucket) do update
      set count = case when a.window_start <= $3 then 1 else a.count + 1 end,
          window_start = case when a.window_start <= $3 then $2 else a.window_start end
      returning bucket, count, window_start`,
    values: [buckets, now, staleBefore],
  });
  return rows.map(({ bucket, count, window_start }) => ({ bucket, count, windowStart: window_start }));
}

/** Forgets the attempts of a bucket, after one succeeded. */
async function forgetAttempts(db: Queryable, buckets: readonly string[]): Promise<void> {
  await db.query({
    name: "forget-person-attempts",
    text: "delete from person_attempts where bucket = any($1)",
    values: [buckets],
  });
}
