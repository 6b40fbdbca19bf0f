import type { Problem } from "../platform/wire/problems.ts";

type StoredLimit = {
  /** The maximum, unless the operator has set another one for a connection. */
  readonly standard: number;
  /** The counted thing, in the plural. */
  readonly unit: string;
  /** What counts, in a sentence. */
  readonly description: string;
  /** How a caller that has reached the limit can continue, in a sentence. */
  readonly remedy: string;
};

/**
 * What one connection can store at most (docs/design/isolation-and-limits.md, "Stored things"): the only list of these limits.
 * Each is so high that normal use never reaches it. `docs/limits.md` documents them for readers.
 */
export const STORED_LIMITS = {
  endpoints: {
    standard: 200,
    unit: "webhook endpoints",
    description: "Live webhook endpoints of the connection. Deleted ones do not count.",
    remedy: "Delete one first.",
  },
  testEndpoints: {
    standard: 20,
    unit: "test webhook endpoints",
    description: "Webhook endpoints for test orders only. Deleted ones do not count.",
    remedy: "Delete one first.",
  },
  endpointCreationsPerHour: {
    standard: 1_000,
    unit: "webhook endpoints created within an hour",
    description:
      "Webhook endpoints that were created within the last hour. Deleted ones count too. Live and test endpoints count separately; the usage shows the higher number.",
    remedy: "Change an endpoint instead of replacing it, or retry in an hour.",
  },
  testOrders: {
    standard: 20_000,
    unit: "test orders",
    description: "Test orders of the connection that have not been erased yet.",
    remedy: "Test orders are erased two hours after their creation, unless configured otherwise.",
  },
  testOrderTransitions: {
    standard: 1_000,
    unit: "transitions of one test order",
    description: "Transitions of one test order. Each publishes at most one event by default.",
    remedy: "Use another test order.",
  },
  redeliveriesPerDay: {
    standard: 100,
    unit: "redeliveries of one delivery within 24 hours",
    description: "Attempts by request to send one delivery, within the last 24 hours.",
    remedy: "Retry tomorrow.",
  },
  deliveryAttempts: {
    standard: 500,
    unit: "attempts of one delivery",
    description:
      "Attempts to send one delivery that the log keeps. From this number on, no redelivery is accepted, and a recovery leaves the delivery out. Attempts of the retry schedule are always made.",
    remedy: "Read the event from the event feed.",
  },
  apiKeys: {
    standard: 1_000,
    unit: "API keys",
    description: "Keys of the connection, with revoked and expired ones.",
    remedy: "The operator can raise the limit.",
  },
} as const satisfies Record<string, StoredLimit>;

export type LimitName = keyof typeof STORED_LIMITS;

/** The other limits of the back office, by what counts. They are the same for all, and stand where they are checked. */
export const FIXED_LIMITS = {
  orderNotes: "Notes of one order.",
  openResends: "Resends of one connection that have not ended.",
  views: "Saved views of one person or token.",
  people: "People of the service.",
  merchantPeople: "People of the merchants of the caller.",
  tokens: "Valid tokens.",
  merchantTokens: "Valid tokens of the merchants of the caller.",
  passkeys: "Passkeys of one person.",
  streams: "Open streams of updates of one caller.",
  merchantStreams: "Open streams of updates of one merchant.",
} as const;
export type FixedLimitName = keyof typeof FIXED_LIMITS;

/** All names, in the order of the list. */
export const LIMIT_NAMES = Object.keys(STORED_LIMITS) as LimitName[]; // The list's own keys.

/** What counts, by the name of the limit. */
export const LIMIT_DESCRIPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  LIMIT_NAMES.map((name) => [name, STORED_LIMITS[name].description]),
);

/** The highest maximum that the operator can set. */
export const LIMIT_MAX = 10_000_000;

/** The maximums that the operator has set for one connection. All other limits have their standard maximum. */
export type LimitOverrides = { readonly [Name in LimitName]?: number };

export const maximumOf = (overrides: LimitOverrides, name: LimitName): number =>
  overrides[name] ?? STORED_LIMITS[name].standard;

/** 409: the request is valid, but the connection has stored as much of this as it may. */
export function limitReached(name: LimitName, maximum: number): Problem {
  const { unit, remedy } = STORED_LIMITS[name];
  return {
    code: "limit-reached",
    detail: `The maximum of ${maximum} ${unit} is reached. ${remedy}`,
    members: { limit: name, maximum },
  };
}

/** Overrides after a change: a number sets a maximum, null returns to the standard one. */
export function changedOverrides(
  overrides: LimitOverrides,
  change: { readonly [Name in LimitName]?: number | null },
): LimitOverrides {
  const changed = { ...overrides, ...change };
  return Object.fromEntries(Object.entries(changed).filter(([, maximum]) => maximum !== null));
}
