import { asGiven, type Finding, type Reading } from "./finding.ts";

/** What the examples of the documentation and the libraries of Standard Webhooks accept. */
const TOLERANCE_SECONDS = 300;

const SECONDS = /^\d{9,11}$/;
const MILLISECONDS = /^\d{12,14}$/;

/** What `webhook-timestamp` may have been when it was signed: seconds since 1970. */
export function timestampsOf(given: string): readonly Reading<string>[] {
  if (SECONDS.test(given)) return [asGiven(given)];
  if (MILLISECONDS.test(given))
    return [
      asGiven(given),
      { value: String(Math.floor(Number(given) / 1_000)), finding: { code: "timestamp_milliseconds" } },
    ];
  const date = Date.parse(given);
  if (Number.isNaN(date)) return [asGiven(given)];
  return [asGiven(given), { value: String(Math.floor(date / 1_000)), finding: { code: "timestamp_form" } }];
}

/** What the form of the timestamp says. */
export const formOf = (given: string): readonly Finding[] => {
  if (SECONDS.test(given)) return [];
  return [{ code: MILLISECONDS.test(given) ? "timestamp_milliseconds" : "timestamp_form" }];
};

/**
 * What the receiver's clock says.
 * @param arrival the time at which the request arrived, by the receiver's clock; empty if it is not known
 */
export function clockFindings(timestamp: string, arrival: string, now: Date): readonly Finding[] {
  const sent = Number(timestampsOf(timestamp).at(-1)?.value);
  if (!Number.isFinite(sent)) return [];
  if (arrival.trim() === "") return ageFindings(now.getTime() / 1_000 - sent);
  const arrived = secondsOf(arrival.trim());
  if (arrived === null) return [{ code: "arrival_form" }];
  const ahead = Math.round(arrived - sent);
  if (Math.abs(ahead) <= TOLERANCE_SECONDS) return [];
  return [{ code: ahead > 0 ? "clock_ahead" : "clock_behind", values: { seconds: Math.abs(ahead) } }];
}

/** Without the time of arrival: a request of the past is usual here, one of the future is not. */
function ageFindings(age: number): readonly Finding[] {
  if (age > TOLERANCE_SECONDS) return [{ code: "timestamp_old", values: { seconds: Math.round(age) } }];
  if (age < -TOLERANCE_SECONDS) return [{ code: "timestamp_future", values: { seconds: Math.round(-age) } }];
  return [];
}

/** A date, or seconds or milliseconds since 1970. */
function secondsOf(text: string): number | null {
  if (SECONDS.test(text)) return Number(text);
  if (MILLISECONDS.test(text)) return Number(text) / 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : date / 1_000;
}
