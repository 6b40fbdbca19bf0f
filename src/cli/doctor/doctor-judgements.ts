import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
/** What a check found. Only `fail` makes the doctor's exit code 1. */
export type Finding = {
  readonly check: string;
  readonly outcome: "ok" | "warn" | "fail";
  readonly words: string;
};

type Judgement = Omit<Finding, "check">;
const ok = (words: string): Judgement => ({ outcome: "ok", words });
const warn = (words: string): Judgement => ({ outcome: "warn", words });
const fail = (words: string): Judgement => ({ outcome: "fail", words });

const POSTGRES_MIN = 15;
/** Deadlines and signatures go by the clock of each machine. */
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;
/** Workers look every second or so: what waits for a minute waits for a reason. */
const WAIT_WARN_MS = MINUTE_MS;
const WAIT_FAIL_MS = 10 * MINUTE_MS;
const PARTITIONS_MIN_MS = 2 * DAY_MS;

/** @param versionNumber as PostgreSQL tells it: 180004 is 18.4 */
export function judgeVersion(versionNumber: number): Judgement {
  const words = `PostgreSQL ${Math.floor(versionNumber / 10_000)}.${versionNumber % 10_000}`;
  if (versionNumber >= POSTGRES_MIN * 10_000) return ok(words);
  return fail(`${words}; the service needs ${POSTGRES_MIN} or later`);
}

export const judgeMigrations = (pending: readonly string[]): Judgement =>
  pending.length === 0
    ? ok("all are applied")
    : fail(`not applied: ${pending.join(", ")}; start the service, or run: npm run cli -- migrate`);

/** @param aheadMs how far this machine's clock is ahead of the database's, negative when behind */
export function judgeClock(aheadMs: number): Judgement {
  const apartMs = Math.abs(aheadMs);
  if (apartMs <= CLOCK_WARN_MS) return ok("this machine and the database agree");
  const words = `this machine is ${inWords(apartMs)} ${aheadMs > 0 ? "ahead of" : "behind"} the database`;
  return apartMs > CLOCK_FAIL_MS ? fail(words) : warn(words);
}

/** @param waitingMs of what waits the longest; null when nothing does */
export function judgeQueue(waitingMs: number | null): Judgement {
  if (waitingMs === null) return ok("nothing waits");
  const words = `the oldest has waited for ${inWords(Math.max(0, waitingMs))}`;
  if (waitingMs <= WAIT_WARN_MS) return ok(words);
  const why = `${words}: does a worker run, and does it keep up?`;
  return waitingMs > WAIT_FAIL_MS ? fail(why) : warn(why);
}

export const judgePaused = (count: number): Judgement =>
  count === 0 ? ok("none is paused") : warn(`${count} paused; their partners have to resume them`);

/** @param aheadMs how long from now every row finds a partition */
export function judgePartitions(aheadMs: number): Judgement {
  const words = `made for ${inWords(aheadMs)} ahead`;
  if (aheadMs === 0) return fail("there is none for today: nothing can be stored; does a worker run?");
  return aheadMs < PARTITIONS_MIN_MS ? warn(`${words}: does a worker run?`) : ok(words);
}

/** @param missing ids of keys that secrets in the database are sealed with */
export const judgeSecretKeys = (missing: readonly string[]): Judgement =>
  missing.length === 0
    ? ok("every signing secret can be opened")
    : fail(`WEBHOOK_SECRET_KEYS lacks ${missing.join(", ")}: webhooks could not be signed`);

function inWords(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 120 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}
