/** A part of a connection's line of time, in microseconds since 1970, that one process may fill with requests. */
export type Grant = { readonly from: number; readonly to: number };

/** A limit as positions on a line of time (decision 0076). All times are in microseconds. */
export type LineTerms = {
  /** Two requests are at least so far apart on the line. */
  readonly intervalUs: number;
  /** The time of a burst: requests have positions up to so far beyond now. */
  readonly windowUs: number;
  /** A line that ends beyond now and this was granted before the clock was set back. */
  readonly latestUs: number;
};

/** The line of a connection, as far as this process knows it. Positions are in microseconds since 1970. */
export type Line = {
  /** The position of the newest request of this process. */
  usedTo: number;
  /** The end of what is granted to this process. */
  heldTo: number;
  /** The end of what is granted to any process, as far as this one knows. */
  grantedTo: number;
};

/** `exhausted`: a request is allowed after this time. `unknown`: only the database knows. */
export type Taken =
  | { readonly outcome: "allowed" | "unknown" }
  | { readonly outcome: "exhausted"; readonly waitUs: number };

const ALLOWED: Taken = { outcome: "allowed" };
const UNKNOWN: Taken = { outcome: "unknown" };
/** Time that may pass between a grant and its use. */
export const AHEAD_US = 250_000;
/** Clocks of machines differ by less. A line that ends later was granted before the clock was set back. */
export const SKEW_US = 5_000_000;

/** @param burst requests that may come at once */
export function lineTerms(perMinute: number, burst: number): LineTerms {
  // Rounded up, so that there are never more requests than the limit.
  const intervalUs = Math.ceil(60_000_000 / perMinute);
  const windowUs = burst * intervalUs;
  return { intervalUs, windowUs, latestUs: windowUs + AHEAD_US + SKEW_US };
}

export const newLine = (): Line => ({ usedTo: 0, heldTo: 0, grantedTo: 0 });

/** Takes the next position for a request. A request at a time has the interval after it, up to the window, to choose from. */
export function takeFrom(line: Line, nowUs: number, { intervalUs, windowUs, latestUs }: LineTerms): Taken {
  if (line.grantedTo > nowUs + latestUs) Object.assign(line, newLine()); // The clock was set back.
  const own = Math.max(line.usedTo, nowUs) + intervalUs;
  const isHeld = own <= line.heldTo;
  const position = isHeld ? own : endOf(line, nowUs) + intervalUs;
  if (position > nowUs + windowUs) return { outcome: "exhausted", waitUs: position - windowUs - nowUs };
  if (!isHeld) return UNKNOWN;
  line.usedTo = position;
  return ALLOWED;
}

/** The end of what is not free: of the requests if no other process has a part, otherwise of all parts. */
export const endOf = ({ usedTo, heldTo, grantedTo }: Line, nowUs: number): number =>
  Math.max(heldTo === grantedTo ? usedTo : grantedTo, nowUs);

/** The length that these requests need, with the time that passes until they use it. */
export const neededFor = (requests: number, { intervalUs }: LineTerms): number =>
  requests * intervalUs + AHEAD_US;

export function extend(line: Line, { from, to }: Grant): void {
  // If another process got the part in between, the rest of the old part is too short for a request.
  if (from !== line.heldTo) line.usedTo = from;
  line.heldTo = to;
  line.grantedTo = to;
}
