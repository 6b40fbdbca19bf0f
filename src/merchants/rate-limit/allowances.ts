import type { Clock } from "../../platform/clock.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import { grantRequests } from "./grants-sql.ts";
import {
  endOf,
  extend,
  type Grant,
  type Line,
  type LineTerms,
  neededFor,
  newLine,
  takeFrom,
} from "./line.ts";

/** What is left of a connection's limit after a request. */
export type Allowance = {
  /** Null if the request is allowed, otherwise the time after which one is. */
  readonly waitUs: number | null;
  /** Requests that may come at once, as far as this process knows. */
  readonly left: number;
  /** Time until the whole burst is available again. */
  readonly fullInUs: number;
};

/** Takes a request from a connection's allowance. A promise if it queries the database. */
export type TakeRequest = (connection: ConnectionKey) => Allowance | Promise<Allowance>;

/** Connections for which one statement requests parts. */
const GROUP_SIZE_MAX = 128;
/** A request that has got nothing by then competes with other processes for the last of the allowance, and is rejected. */
const GRANTS_MAX = 3;

type KnownLine = ConnectionKey & Line & { waiting: number; asking: Promise<void> | null };

/**
 * The allowances of connections, shared by all processes (decision 0076). A process gets a part of a connection's line
 * for many requests, and requests the next part when it is used. If the database does not respond, the request fails.
 */
export function createAllowances(db: Queryable, clock: Clock, terms: LineTerms): TakeRequest {
  const nowUs = (): number => clock.now().getTime() * 1_000;
  const lineOf = keepLines(nowUs);
  const ask = groupCalls<KnownLine, Grant>({
    name: "grant requests",
    run: async (asking) => {
      const requests = asking.map(({ merchantId, connectionId, waiting }) => ({
        merchantId,
        connectionId,
        neededUs: neededFor(waiting, terms),
      }));
      return grantRequests(db, requests, { nowUs: nowUs(), windowUs: terms.windowUs });
    },
    sizeMax: GROUP_SIZE_MAX,
    concurrencyMax: 1,
  });

  function takeKnown(line: KnownLine): Allowance | null {
    const now = nowUs();
    const taken = takeFrom(line, now, terms);
    return taken.outcome === "unknown"
      ? null
      : allowanceOf(line, now, terms, taken.outcome === "exhausted" ? taken.waitUs : null);
  }

  /** Asks the database together with other requests of the connection. */
  async function takeGranted(line: KnownLine): Promise<Allowance> {
    line.waiting += 1;
    try {
      for (let asked = 0; asked < GRANTS_MAX; asked += 1) {
        line.asking ??= askFor(line);
        await line.asking;
        const taken = takeKnown(line);
        if (taken !== null) return taken;
      }
      return allowanceOf(line, nowUs(), terms, terms.intervalUs);
    } finally {
      line.waiting -= 1;
    }
  }

  async function askFor(line: KnownLine): Promise<void> {
    try {
      extend(line, await ask(line));
    } finally {
      line.asking = null;
    }
  }

  return (connection) => {
    const line = lineOf(connection);
    return takeKnown(line) ?? takeGranted(line);
  };
}

const allowanceOf = (
  line: Line,
  nowUs: number,
  { intervalUs, windowUs }: LineTerms,
  waitUs: number | null,
): Allowance => {
  const fullInUs = endOf(line, nowUs) - nowUs;
  return { waitUs, fullInUs, left: Math.max(0, Math.floor((windowUs - fullInUs) / intervalUs)) };
};

/** The lines that this process knows. A lookup makes the line of a connection that it does not know. */
function keepLines(nowUs: () => number): (connection: ConnectionKey) => KnownLine {
  const lines = new Map<string, KnownLine>();
  let sweptAtUs = nowUs();
  return ({ merchantId, connectionId }) => {
    const now = nowUs();
    if (Math.abs(now - sweptAtUs) > MINUTE_MS * 1_000) {
      sweptAtUs = now;
      removeEnded(lines, now);
    }
    const known = lines.get(connectionId);
    if (known !== undefined) return known;
    const line: KnownLine = { ...newLine(), merchantId, connectionId, waiting: 0, asking: null };
    lines.set(connectionId, line);
    return line;
  };
}

/** A line that ended a minute ago holds nothing. */
function removeEnded(lines: Map<string, KnownLine>, nowUs: number): void {
  for (const [id, { grantedTo, waiting }] of lines)
    if (waiting === 0 && grantedTo < nowUs - MINUTE_MS * 1_000) lines.delete(id);
}
