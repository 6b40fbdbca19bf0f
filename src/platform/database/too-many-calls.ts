import { ProblemError } from "../wire/problem-error.ts";

/** Calls of one connection that may wait in each queue of a process. Normal use never reaches it (decision 0066). */
export const WAITING_CALLS_MAX = 5_000;

/** Thrown for a call of a connection that has too many calls waiting. No other connection is affected. */
export const tooManyCalls = (): ProblemError =>
  new ProblemError({
    code: "rate-limited",
    detail: `More than ${WAITING_CALLS_MAX} requests of the connection wait for the database. Send fewer at a time.`,
    members: { limit: "waiting-requests" },
    headers: { "retry-after": "1" },
  });
