import { type ConnectionKey, connectionColumns } from "../platform/connection-key.ts";
import { merchantByMerchant } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { groupCalls } from "../platform/database/group.ts";
import { type Clock, MINUTE_MS } from "../platform/time.ts";

/** The rest of a connection's limit after a request. */
export type BucketState = {
  /** Null if the request is allowed, otherwise the time after which one is. */
  readonly waitUs: number | null;
  /** Requests that may come at once, as far as this process knows. */
  readonly left: number;
  /** Time until the whole burst is available again. */
  readonly fullInUs: number;
};

/** Takes a request from the token bucket of a connection. A promise if it queries the database. */
export type TakeRequest = (connection: ConnectionKey) => BucketState | Promise<BucketState>;

/** Connections for which one statement requests parts. */
const GROUP_SIZE_MAX = 128;
/** A request that has got nothing by then competes with other processes for the last of the bucket, and is rejected. */
const GRANTS_MAX = 3;

type KnownBucket = ConnectionKey & TokenBucket & { waiting: number; asking: Promise<void> | null };

/**
 * The token buckets of connections, shared by all processes (docs/design/isolation-and-limits.md, "Rate limit"). A process gets
 * a part of a connection's bucket for many requests, and requests the next part when it is used. If the database does not
 * respond, the request fails.
 */
export function createRateLimit(db: Queryable, clock: Clock, terms: BucketTerms): TakeRequest {
  const nowUs = (): number => clock.now().getTime() * 1_000;
  const bucketOf = keepBuckets(nowUs);
  const ask = groupCalls<KnownBucket, GrantedPart>({
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

  function takeKnown(bucket: KnownBucket): BucketState | null {
    const now = nowUs();
    const taken = takeFrom(bucket, now, terms);
    return taken.outcome === "unknown"
      ? null
      : stateOf(bucket, now, terms, taken.outcome === "exhausted" ? taken.waitUs : null);
  }

  /** Asks the database together with other requests of the connection. */
  async function takeGranted(bucket: KnownBucket): Promise<BucketState> {
    bucket.waiting += 1;
    try {
      for (let asked = 0; asked < GRANTS_MAX; asked += 1) {
        bucket.asking ??= askFor(bucket);
        await bucket.asking;
        const taken = takeKnown(bucket);
        if (taken !== null) return taken;
      }
      return stateOf(bucket, nowUs(), terms, terms.intervalUs);
    } finally {
      bucket.waiting -= 1;
    }
  }

  async function askFor(bucket: KnownBucket): Promise<void> {
    try {
      extend(bucket, await ask(bucket));
    } finally {
      bucket.asking = null;
    }
  }

  return (connection) => {
    const bucket = bucketOf(connection);
    return takeKnown(bucket) ?? takeGranted(bucket);
  };
}

const stateOf = (
  bucket: TokenBucket,
  nowUs: number,
  { intervalUs, windowUs }: BucketTerms,
  waitUs: number | null,
): BucketState => {
  const fullInUs = endOf(bucket, nowUs) - nowUs;
  return { waitUs, fullInUs, left: Math.max(0, Math.floor((windowUs - fullInUs) / intervalUs)) };
};

/** The buckets that this process knows. A lookup makes the bucket of a connection that it does not know. */
function keepBuckets(nowUs: () => number): (connection: ConnectionKey) => KnownBucket {
  const buckets = new Map<string, KnownBucket>();
  let sweptAtUs = nowUs();
  return ({ merchantId, connectionId }) => {
    const now = nowUs();
    if (Math.abs(now - sweptAtUs) > MINUTE_MS * 1_000) {
      sweptAtUs = now;
      removeEnded(buckets, now);
    }
    const known = buckets.get(connectionId);
    if (known !== undefined) return known;
    const bucket: KnownBucket = { ...newBucket(), merchantId, connectionId, waiting: 0, asking: null };
    buckets.set(connectionId, bucket);
    return bucket;
  };
}

/** A bucket that ended a minute ago holds nothing. */
function removeEnded(buckets: Map<string, KnownBucket>, nowUs: number): void {
  for (const [id, { grantedTo, waiting }] of buckets)
    if (waiting === 0 && grantedTo < nowUs - MINUTE_MS * 1_000) buckets.delete(id);
}

/** A part of the time of a connection, in microseconds since 1970, that one process may fill with requests. */
type GrantedPart = { readonly from: number; readonly to: number };

/** A token bucket as positions in time (docs/design/isolation-and-limits.md, "Rate limit"). All times are in microseconds. */
type BucketTerms = {
  /** Two requests are at least so far apart. */
  readonly intervalUs: number;
  /** The time of a burst: requests have positions up to so far beyond now. */
  readonly windowUs: number;
  /** A bucket that ends beyond now and this was granted before the clock was set back. */
  readonly latestUs: number;
};

/** The token bucket of a connection, as far as this process knows it. Positions are in microseconds since 1970. */
type TokenBucket = {
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
const AHEAD_US = 250_000;
/** Clocks of machines differ by less. A bucket that ends later was granted before the clock was set back. */
const SKEW_US = 5_000_000;

/** @param burst requests that may come at once */
export function bucketTerms(perMinute: number, burst: number): BucketTerms {
  // Rounded up, so that there are never more requests than the limit.
  const intervalUs = Math.ceil(60_000_000 / perMinute);
  const windowUs = burst * intervalUs;
  return { intervalUs, windowUs, latestUs: windowUs + AHEAD_US + SKEW_US };
}

const newBucket = (): TokenBucket => ({ usedTo: 0, heldTo: 0, grantedTo: 0 });

/** Takes the next position for a request. A request at a time has the interval after it, up to the window, to choose from. */
function takeFrom(
  bucket: TokenBucket,
  nowUs: number,
  { intervalUs, windowUs, latestUs }: BucketTerms,
): Taken {
  if (bucket.grantedTo > nowUs + latestUs) Object.assign(bucket, newBucket()); // The clock was set back.
  const own = Math.max(bucket.usedTo, nowUs) + intervalUs;
  const isHeld = own <= bucket.heldTo;
  const position = isHeld ? own : endOf(bucket, nowUs) + intervalUs;
  if (position > nowUs + windowUs) return { outcome: "exhausted", waitUs: position - windowUs - nowUs };
  if (!isHeld) return UNKNOWN;
  bucket.usedTo = position;
  return ALLOWED;
}

/** The end of what is not free: of the requests if no other process has a part, otherwise of all parts. */
const endOf = ({ usedTo, heldTo, grantedTo }: TokenBucket, nowUs: number): number =>
  Math.max(heldTo === grantedTo ? usedTo : grantedTo, nowUs);

/** The length that these requests need, with the time that passes until they use it. */
const neededFor = (requests: number, { intervalUs }: BucketTerms): number => requests * intervalUs + AHEAD_US;

function extend(bucket: TokenBucket, { from, to }: GrantedPart): void {
  // If another process got the part in between, the rest of the old part is too short for a request.
  if (from !== bucket.heldTo) bucket.usedTo = from;
  bucket.heldTo = to;
  bucket.grantedTo = to;
}

export type PartRequest = ConnectionKey & {
  /** The length that the waiting requests need, in microseconds. */
  readonly neededUs: number;
};

/** How far beyond now a bucket is granted. It is more than the window, because time passes until the grant is used. */
const HORIZON = `excluded.granted_from + excluded.window_us + ${AHEAD_US}`;
/** A bucket that ends even later was granted before the clock was set back. It then ends at the window. */
const BEGIN = `case when rate_limits.granted_to > ${HORIZON} + ${SKEW_US} then excluded.granted_from + excluded.window_us
               else greatest(rate_limits.granted_to, excluded.granted_from) end`;

/**
 * Grants the next part of the bucket of each connection to the caller (docs/design/isolation-and-limits.md, "Rate limit"): what
 * it needs, or a quarter of what is left if that is more, but never beyond the horizon. What is granted is granted once: the
 * row decides between processes. Rows are locked in the order of their keys, so that processes wait for each other and never in
 * a circle. The update reads the rejected row alone: on Citus it has no parameters.
 * @param requests of different connections
 * @returns the parts, in the order of the requests; an empty one if nothing is left
 */
async function grantRequests(
  db: Queryable,
  requests: readonly PartRequest[],
  { nowUs, windowUs }: { nowUs: number } & Pick<BucketTerms, "windowUs">,
): Promise<GrantedPart[]> {
  const rows = await merchantByMerchant(db, requests, (own) => grantTo(db, own, nowUs, windowUs));
  const grants = new Map(
    rows.map((row) => [row.connection_id, { from: row.granted_from, to: row.granted_to }]),
  );
  return requests.map(({ connectionId }) => grants.get(connectionId) ?? { from: nowUs, to: nowUs }); // There is a row for each.
}

type PartRow = { connection_id: string; granted_from: number; granted_to: number };

const grantTo = (
  db: Queryable,
  requests: readonly PartRequest[],
  nowUs: number,
  windowUs: number,
): Promise<PartRow[]> =>
  db.query({
    name: "grant-requests",
    text: `
      insert into rate_limits (merchant_id, connection_id, granted_from, granted_to, window_us)
      select requested.merchant_id, requested.connection_id, $4::bigint,
             $4::bigint + least(requested.needed, $5::bigint + ${AHEAD_US}), $5::bigint
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as requested (merchant_id, connection_id, needed)
      order by requested.merchant_id, requested.connection_id
      on conflict (merchant_id, connection_id) do update
      set granted_from = ${BEGIN},
          granted_to = ${BEGIN} + greatest(0, least(
            ${HORIZON} - (${BEGIN}),
            greatest(excluded.granted_to - excluded.granted_from, (${HORIZON} - (${BEGIN})) / 4))),
          window_us = excluded.window_us
      returning rate_limits.connection_id, rate_limits.granted_from::float8, rate_limits.granted_to::float8`,
    values: [...connectionColumns(requests), requests.map(({ neededUs }) => neededUs), nowUs, windowUs],
  });
