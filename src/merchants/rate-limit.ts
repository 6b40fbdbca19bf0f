import type { ConnectionKey } from "../platform/connection-key.ts";
import { merchantByMerchant } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { groupCalls } from "../platform/database/group.ts";
import { type Clock, MINUTE_MS } from "../platform/time.ts";

/** The rest of an allowance after a request. */
export type BucketState = {
  /** Null if the request is allowed, otherwise the time after which one is. */
  readonly waitUs: number | null;
  /** Requests that may come at once, as far as this process knows. */
  readonly left: number;
  /** Time until the whole burst is available again. */
  readonly fullInUs: number;
  /** Whose allowance it is: the caller's, unless that of its merchant is used up. */
  readonly unit: RateUnit;
};

/** A merchant is the first unit of an allowance: its connections, or its callers of the back office, share it. */
export type RateUnit = "merchant" | "caller";

/** The allowances of live keys, of test keys, of those that strangers have requested, of the polls with each, and of the back office are apart from each other. */
const RATE_KINDS = [
  "live",
  "test",
  "requested",
  "live-polls",
  "test-polls",
  "requested-polls",
  "back-office",
] as const;
export type RateKind = (typeof RATE_KINDS)[number];

export type RateTerms = Readonly<Record<RateKind, Readonly<Record<RateUnit, BucketTerms>>>>;

/**
 * Takes a request of a connection, or of a caller of the back office, from its token bucket and from that of its merchant. A
 * caller of no merchant stands for both. A promise if it queries the database.
 */
export type TakeRequest = (kind: RateKind, owner: ConnectionKey) => BucketState | Promise<BucketState>;

/** Buckets for which one statement requests parts. */
const GROUP_SIZE_MAX = 128;
/** A request that has got nothing by then competes with other processes for the last of the bucket, and is rejected. */
const GRANTS_MAX = 3;

/** A bucket by its key in the database. */
type BucketKey = { readonly merchantId: string; readonly ownerId: string; readonly kind: RateKind };

type KnownBucket = BucketKey &
  TokenBucket & {
    readonly unit: RateUnit;
    readonly terms: BucketTerms;
    waiting: number;
    asking: Promise<void> | null;
  };

/**
 * Token buckets that all processes share (docs/design/isolation-and-limits.md, "Rate limit"). A process gets a part of a bucket
 * for many requests, and requests the next part when it is used. If the database does not respond, the request fails.
 */
export function createRateLimit(db: Queryable, clock: Clock, terms: RateTerms): TakeRequest {
  const nowUs = (): number => clock.now().getTime() * 1_000;
  const keep = (kind: RateKind, unit: RateUnit) =>
    keepBuckets(nowUs, { kind, unit, terms: terms[kind][unit] });
  const buckets = {
    live: { merchant: keep("live", "merchant"), caller: keep("live", "caller") },
    test: { merchant: keep("test", "merchant"), caller: keep("test", "caller") },
    requested: { merchant: keep("requested", "merchant"), caller: keep("requested", "caller") },
    "live-polls": { merchant: keep("live-polls", "merchant"), caller: keep("live-polls", "caller") },
    "test-polls": { merchant: keep("test-polls", "merchant"), caller: keep("test-polls", "caller") },
    "requested-polls": {
      merchant: keep("requested-polls", "merchant"),
      caller: keep("requested-polls", "caller"),
    },
    "back-office": { merchant: keep("back-office", "merchant"), caller: keep("back-office", "caller") },
  } as const satisfies Record<RateKind, Record<RateUnit, unknown>>;
  const ask = groupCalls<KnownBucket, GrantedPart>({
    name: "grant requests",
    run: async (asking) => {
      const requests = asking.map(
        ({ merchantId, ownerId, kind, waiting, terms: { intervalUs, windowUs } }) => ({
          merchantId,
          ownerId,
          kind,
          neededUs: waiting * intervalUs + AHEAD_US,
          windowUs,
        }),
      );
      return grantRequests(db, requests, nowUs());
    },
    sizeMax: GROUP_SIZE_MAX,
    concurrencyMax: 1,
  });

  function takeKnown(bucket: KnownBucket): BucketState | null {
    const now = nowUs();
    const taken = takeFrom(bucket, now, bucket.terms);
    return taken.outcome === "unknown"
      ? null
      : stateOf(bucket, now, taken.outcome === "exhausted" ? taken.waitUs : null);
  }

  /** Asks the database together with other requests of the bucket. */
  async function takeGranted(bucket: KnownBucket): Promise<BucketState> {
    bucket.waiting += 1;
    try {
      for (let asked = 0; asked < GRANTS_MAX; asked += 1) {
        bucket.asking ??= askFor(bucket);
        await bucket.asking;
        const taken = takeKnown(bucket);
        if (taken !== null) return taken;
      }
      return stateOf(bucket, nowUs(), bucket.terms.intervalUs);
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

  /** One statement asks for both buckets: the merchant's is asked for before the request knows that it needs it. */
  async function takeOwnGranted(own: KnownBucket, merchants: KnownBucket | null): Promise<BucketState> {
    const isMissing =
      merchants !== null && takeFrom({ ...merchants }, nowUs(), merchants.terms).outcome === "unknown";
    if (!isMissing) return takeGranted(own);
    merchants.waiting += 1;
    merchants.asking ??= askFor(merchants);
    try {
      const [state] = await Promise.all([takeGranted(own), merchants.asking]);
      return state;
    } finally {
      merchants.waiting -= 1;
    }
  }

  /** A request that its connection's bucket rejects takes nothing from the merchant's. */
  function takeMerchants(
    own: BucketState,
    merchants: KnownBucket | null,
  ): BucketState | Promise<BucketState> {
    if (own.waitUs !== null || merchants === null) return own;
    const choose = (state: BucketState): BucketState => (state.waitUs === null ? own : state);
    const known = takeKnown(merchants);
    return known === null ? takeGranted(merchants).then(choose) : choose(known);
  }

  return (kind, { merchantId, connectionId }) => {
    const isFirst = merchantId === connectionId;
    const own = buckets[kind][isFirst ? "merchant" : "caller"](merchantId, connectionId);
    const merchants = isFirst ? null : buckets[kind].merchant(merchantId, merchantId);
    const known = takeKnown(own);
    return known === null
      ? takeOwnGranted(own, merchants).then((state) => takeMerchants(state, merchants))
      : takeMerchants(known, merchants);
  };
}

function stateOf(bucket: KnownBucket, nowUs: number, waitUs: number | null): BucketState {
  const { unit, terms } = bucket;
  const fullInUs = endOf(bucket, nowUs) - nowUs;
  return {
    waitUs,
    fullInUs,
    left: Math.max(0, Math.floor((terms.windowUs - fullInUs) / terms.intervalUs)),
    unit,
  };
}

/** The buckets that this process knows, of one kind and unit. A lookup makes one that it does not know. */
function keepBuckets(
  nowUs: () => number,
  terms: Pick<KnownBucket, "kind" | "unit" | "terms">,
): (merchantId: string, ownerId: string) => KnownBucket {
  const buckets = new Map<string, KnownBucket>();
  let sweptAtUs = nowUs();
  return (merchantId, ownerId) => {
    const now = nowUs();
    if (Math.abs(now - sweptAtUs) > MINUTE_MS * 1_000) {
      sweptAtUs = now;
      removeEnded(buckets, now);
    }
    const known = buckets.get(ownerId);
    if (known !== undefined) return known;
    const bucket: KnownBucket = { ...newBucket(), ...terms, merchantId, ownerId, waiting: 0, asking: null };
    buckets.set(ownerId, bucket);
    return bucket;
  };
}

/** A bucket that ended a minute ago holds nothing. */
function removeEnded(buckets: Map<string, KnownBucket>, nowUs: number): void {
  for (const [id, { grantedTo, waiting }] of buckets)
    if (waiting === 0 && grantedTo < nowUs - MINUTE_MS * 1_000) buckets.delete(id);
}

/** A part of the time of a bucket, in microseconds since 1970, that one process may fill with requests. */
type GrantedPart = { readonly from: number; readonly to: number };

/** A token bucket as positions in time (docs/design/isolation-and-limits.md, "Rate limit"). All times are in microseconds. */
export type BucketTerms = {
  /** Two requests are at least so far apart. */
  readonly intervalUs: number;
  /** The time of a burst: requests have positions up to so far beyond now. */
  readonly windowUs: number;
  /** A bucket that ends beyond now and this was granted before the clock was set back. */
  readonly latestUs: number;
};

/** A token bucket, as far as this process knows it. Positions are in microseconds since 1970. */
type TokenBucket = {
  /** The position of the newest request of this process. */
  usedTo: number;
  /** The end of what is granted to this process. */
  heldTo: number;
  /** The end of what is granted to any process, as far as this one knows. */
  grantedTo: number;
};

/** `exhausted`: a request is allowed after this time. `unknown`: only the database knows. */
type Taken =
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

function extend(bucket: TokenBucket, { from, to }: GrantedPart): void {
  // If another process got the part in between, the rest of the old part is too short for a request.
  if (from !== bucket.heldTo) bucket.usedTo = from;
  bucket.heldTo = to;
  bucket.grantedTo = to;
}

type PartRequest = BucketKey & {
  /** The length that the waiting requests need, in microseconds. */
  readonly neededUs: number;
} & Pick<BucketTerms, "windowUs">;

/** How far beyond now a bucket is granted. It is more than the window, because time passes until the grant is used. */
const HORIZON = `excluded.granted_from + excluded.window_us + ${AHEAD_US}`;
/** A bucket that ends even later was granted before the clock was set back. It then ends at the window. */
const BEGIN = `case when rate_limits.granted_to > ${HORIZON} + ${SKEW_US} then excluded.granted_from + excluded.window_us
               else greatest(rate_limits.granted_to, excluded.granted_from) end`;

/**
 * Grants the next part of each bucket to the caller (docs/design/isolation-and-limits.md, "Rate limit"): what it needs, or a
 * quarter of what is left if that is more, but never beyond the horizon. What is granted is granted once: the row decides
 * between processes. Rows are locked in the order of their keys, so that processes wait for each other and never in a circle.
 * The update reads the rejected row alone: on Citus it has no parameters.
 * @param requests of different buckets
 * @returns the parts, in the order of the requests; an empty one if nothing is left
 */
async function grantRequests(
  db: Queryable,
  requests: readonly PartRequest[],
  nowUs: number,
): Promise<GrantedPart[]> {
  const rows = await merchantByMerchant(db, requests, (own) => grantTo(db, own, nowUs));
  const grants = new Map(
    rows.map((row) => [`${row.kind} ${row.owner_id}`, { from: row.granted_from, to: row.granted_to }]),
  );
  return requests.map(({ kind, ownerId }) => grants.get(`${kind} ${ownerId}`) ?? { from: nowUs, to: nowUs }); // There is a row for each.
}

type PartRow = { owner_id: string; kind: RateKind; granted_from: number; granted_to: number };

const grantTo = (db: Queryable, requests: readonly PartRequest[], nowUs: number): Promise<PartRow[]> =>
  db.query({
    name: "grant-requests",
    text: `
      insert into rate_limits (merchant_id, owner_id, kind, granted_from, granted_to, window_us)
      select requested.merchant_id, requested.owner_id, requested.kind, $6::bigint,
             $6::bigint + least(requested.needed, requested.window_us + ${AHEAD_US}), requested.window_us
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[])
        as requested (merchant_id, owner_id, kind, needed, window_us)
      order by requested.merchant_id, requested.owner_id, requested.kind
      on conflict (merchant_id, owner_id, kind) do update
      set granted_from = ${BEGIN},
          granted_to = ${BEGIN} + greatest(0, least(
            ${HORIZON} - (${BEGIN}),
            greatest(excluded.granted_to - excluded.granted_from, (${HORIZON} - (${BEGIN})) / 4))),
          window_us = excluded.window_us
      returning rate_limits.owner_id, rate_limits.kind, rate_limits.granted_from::float8, rate_limits.granted_to::float8`,
    values: [
      requests.map(({ merchantId }) => merchantId),
      requests.map(({ ownerId }) => ownerId),
      requests.map(({ kind }) => kind),
      requests.map(({ neededUs }) => neededUs),
      requests.map(({ windowUs }) => windowUs),
      nowUs,
    ],
  });
