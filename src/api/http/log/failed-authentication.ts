import type { Logger } from "pino";
import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/time.ts";

/** At most one line in this time, so that a caller with a wrong key cannot fill the log. */
const LINE_INTERVAL_MS = 10 * SECOND_MS;

/** Logs a failed authentication. Never the key: another system may accept it. */
export type LogFailedAuthentication = (failure: {
  readonly address: string;
  readonly requestId: string;
  /** The id of the key, if it is known, but revoked or expired. */
  readonly keyId?: string | undefined;
  /** The same for a token of the back office. */
  readonly tokenId?: string | undefined;
}) => void;

/** A line is about one failure, and has the number of failures since the line before. */
export function failedAuthenticationLog(log: Logger, clock: Clock): LogFailedAuthentication {
  let count = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (failure) => {
    count += 1;
    const nowMs = clock.now().getTime();
    if (nowMs - loggedAtMs < LINE_INTERVAL_MS) return;
    const { requestId: reqId, ...others } = failure;
    log.warn({ reqId, ...others, count }, "authentication failed");
    count = 0;
    loggedAtMs = nowMs;
  };
}
