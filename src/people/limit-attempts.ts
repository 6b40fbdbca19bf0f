import { createHash } from "node:crypto";
import type { Queryable } from "../platform/database/database.ts";
import { before, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";
import type { PeopleContext } from "./person.ts";

/** All limits are of this time. */
export const WINDOW_MS = 15 * MINUTE_MS;
/** Attempts of one network: a whole company can be behind one address. */
export const NETWORK_MAX = 100;
/** Attempts of one network at one account. */
const ACCOUNT_OF_NETWORK_MAX = 10;
/** Attempts at one account, of all networks together. */
const ACCOUNT_MAX = 100;
/** Mails that others cause to one person. */
export const MAILS_MAX = 5;

/** Why there were too many requests, and what the person can do. Strangers cannot use up what these sentences name. */
const TOO_MANY = {
  password: ["attempts to sign in", ", or use a passkey or a link by mail"],
  reset: ["requests for a link by mail", ", or use a link that was sent, or a passkey"],
  link: ["attempts with this link", ""],
} as const;
type Purpose = keyof typeof TOO_MANY;

/** What is counted together, and how often it may happen within WINDOW_MS. */
export type Bucket = { readonly bucket: string; readonly max: number; readonly purpose: Purpose };

/** The database does not learn the addresses: it needs only to recognize them. */
const bucketOf = (purpose: Purpose, max: number, ...parts: readonly string[]): Bucket => ({
  bucket: createHash("sha256").update(JSON.stringify(parts)).digest("base64url"),
  max,
  purpose,
});

/** A password, or a request for a link by mail, that is sent without a session. `account`: the mail address. */
export type Attempt = {
  readonly purpose: "password" | "reset";
  readonly network: string;
  readonly account: string;
};

/**
 * The buckets of an attempt: of the network, of the network at the account, and of the account. Requests for a link are not limited by account: the mails are, and a person who gets no further one
 * has links already. Links and passkeys are not counted at all, because they cannot be guessed.
 */
export const bucketsOf = ({ purpose, network, account }: Attempt): [Bucket, Bucket, ...Bucket[]] => [
  bucketOf(purpose, NETWORK_MAX, purpose, "network", network),
  bucketOf(purpose, ACCOUNT_OF_NETWORK_MAX, purpose, "network and account", network, account),
  ...(purpose === "reset" ? [] : [bucketOf(purpose, ACCOUNT_MAX, purpose, "account", account)]),
];

/** Passwords and codes that are sent with a session: an open browser, or a stolen cookie, must not guess without a limit. */
export const proofsOfSession = (sessionId: string): Bucket => bucketOf("password", 10, "session", sessionId);
/** One-time codes of a person, wherever they are sent. A password or a session must come first, so strangers use up none. */
export const codesOfPerson = (personId: string): Bucket => bucketOf("password", 10, "codes", personId);
/** New passwords that are sent with a valid link: each costs the processor a hash. */
export const passwordsOfLink = (tokenHash: Buffer): Bucket =>
  bucketOf("link", 10, "link", tokenHash.toString("base64url"));
export const resetMailsOf = (personId: string): Bucket =>
  bucketOf("reset", MAILS_MAX, "reset mails", personId);
/** Entries of the audit log about wrong passwords of a person. */
export const failuresOf = (personId: string): Bucket => bucketOf("password", 5, "failures", personId);

type Clocked = Pick<PeopleContext, "clock">;

/**
 * Counts an attempt. Null: it may be made. The network is counted first: an attempt beyond it counts in no other bucket, so other and
 * other accounts cause no further rows.
 */
export async function takeAttempt(
  context: Pick<PeopleContext, "db" | "clock">,
  attempt: Attempt,
): Promise<Problem | null> {
  const [ofNetwork, ...others] = bucketsOf(attempt);
  return (await take(context.db, context, ofNetwork)) ?? take(context.db, context, ...others);
}

/** Counts in all of these buckets. Null: it may happen. */
export async function take(
  db: Queryable,
  { clock }: Clocked,
  ...buckets: readonly [Bucket, ...Bucket[]]
): Promise<Problem | null> {
  const now = clock.now();
  const rows = await db.query<{ bucket: string; count: number; window_start: Date }>({
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
    values: [buckets.map(({ bucket }) => bucket), now, before(now, WINDOW_MS)],
  });
  const maxima = new Map(buckets.map(({ bucket, max }) => [bucket, max]));
  const exceeded = rows.filter((row) => row.count > (maxima.get(row.bucket) ?? 0));
  if (exceeded.length === 0) return null;
  const waitMs = Math.max(...exceeded.map((row) => row.window_start.getTime() + WINDOW_MS - now.getTime()));
  const seconds = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  const [what, instead] = TOO_MANY[buckets[0].purpose];
  return {
    code: "rate-limited",
    detail: `There were too many ${what}. Retry in ${seconds} s${instead}.`,
    headers: { "retry-after": String(seconds) },
  };
}

/** After a success: what was counted in these buckets counts from the beginning. */
export async function clear(db: Queryable, ...buckets: readonly Bucket[]): Promise<void> {
  await db.query({
    name: "clear-person-attempts",
    text: "delete from person_attempts where bucket = any($1)",
    values: [buckets.map(({ bucket }) => bucket)],
  });
}
