import type { Problem } from "../platform/wire/problems.ts";

export type StoredLimit = {
  /** The maximum, unless the operator has set another one for the connection or the merchant. */
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
export const CONNECTION_LIMITS = {
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
    standard: 200,
    unit: "valid API keys",
    description:
      "Valid keys of the connection. Revoked and expired ones do not count. A rotation is never rejected.",
    remedy: "Revoke one first.",
  },
} as const satisfies Record<string, StoredLimit>;

/**
 * What one merchant can have at most, over all its connections (docs/design/isolation-and-limits.md, "Stored things"). The names
 * differ from those of a connection, because a problem names a limit of either.
 */
export const MERCHANT_LIMITS = {
  connections: {
    standard: 200,
    unit: "connections",
    description: "Connections of the merchant.",
    remedy: "The operator can raise the limit.",
  },
  products: {
    standard: 500_000,
    unit: "products",
    description: "Products of the merchant, with discontinued ones.",
    remedy: "The operator can raise the limit.",
  },
  merchantApiKeys: {
    standard: 1_000,
    unit: "valid API keys of a merchant",
    description: "Valid keys of all connections of the merchant. A rotation is never rejected.",
    remedy: "Revoke one first.",
  },
  merchantEndpoints: {
    standard: 2_000,
    unit: "webhook endpoints of a merchant",
    description: "Live webhook endpoints of all connections of the merchant. Deleted ones do not count.",
    remedy: "Delete one first.",
  },
  merchantTestEndpoints: {
    standard: 200,
    unit: "test webhook endpoints of a merchant",
    description:
      "Webhook endpoints for test orders only, of all connections of the merchant. Deleted ones do not count.",
    remedy: "Delete one first.",
  },
  merchantTokens: {
    standard: 100,
    unit: "valid tokens of a merchant",
    description:
      "Valid tokens for the merchant or for connections of it. The operator's requests, and rotations, are never rejected.",
    remedy: "Revoke one first.",
  },
  merchantPeople: {
    standard: 200,
    unit: "people of a merchant",
    description:
      "People with access to the merchant or to connections of it. The operator's requests are never rejected.",
    remedy: "The operator can raise the limit.",
  },
  invitationsPerDay: {
    standard: 100,
    unit: "invitations of a merchant within 24 hours",
    description:
      "Invitations that people and tokens of the merchant sent within 24 hours, with those that were sent again. The operator's requests are never rejected for it.",
    remedy: "Retry tomorrow. The operator can raise the limit.",
  },
  merchantStreams: {
    standard: 50,
    unit: "open streams of updates of a merchant",
    description: "Open streams of updates of the merchant's people and tokens, in each process.",
    remedy: "Close one first.",
  },
} as const satisfies Record<string, StoredLimit>;

const STORED_LIMITS = { ...CONNECTION_LIMITS, ...MERCHANT_LIMITS };

export type ConnectionLimitName = keyof typeof CONNECTION_LIMITS;
export type MerchantLimitName = keyof typeof MERCHANT_LIMITS;
export type LimitName = ConnectionLimitName | MerchantLimitName;

/**
 * The other limits of the back office, by what counts. They are the same for all, and stand where they are checked. None counts
 * things of several tenants (docs/design/isolation-and-limits.md, "Stored things").
 */
export const FIXED_LIMITS = {
  deliveryFaults: "Faults to rehearse with deliveries of one test order.",
  orderNotes: "Notes of one order.",
  openResends: "Resends of one connection that have not ended.",
  views: "Saved views of one person or token.",
  people: "People without access to a merchant. Only the operator invites them.",
  invitations: "Invitations within 24 hours by operators.",
  invitationResends: "How often one invitation is sent again.",
  tokens: "Valid tokens that are for no merchant. Only the operator creates them.",
  passkeys: "Passkeys of one person.",
  streams: "Open streams of updates of one caller.",
  runningImports: "Imports of one merchant that are under way.",
  runningExports: "Files that are being sent to one merchant, or to one other caller.",
  runningExposures: "Bulk changes of exposure of one merchant that are under way.",
  runningResends: "Requests for a resend of one merchant that are under way.",
  runningStatements: "Statements of one merchant's account that are being read.",
} as const;
export type FixedLimitName = keyof typeof FIXED_LIMITS;

/** What counts, by the name of the limit. */
export const LIMIT_DESCRIPTIONS: Readonly<Record<LimitName, string>> = {
  ...descriptionsOf(CONNECTION_LIMITS),
  ...descriptionsOf(MERCHANT_LIMITS),
};

/** Those that a request of a partner can reach. */
export const PARTNER_LIMIT_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ...descriptionsOf(CONNECTION_LIMITS),
  deliveryFaults: FIXED_LIMITS.deliveryFaults,
  connections: MERCHANT_LIMITS.connections.description,
  merchantEndpoints: MERCHANT_LIMITS.merchantEndpoints.description,
  merchantTestEndpoints: MERCHANT_LIMITS.merchantTestEndpoints.description,
};

function descriptionsOf<Name extends string>(
  limits: Readonly<Record<Name, StoredLimit>>,
): Record<Name, string> {
  const entries = Object.entries<StoredLimit>(limits);
  return Object.fromEntries(entries.map(([name, { description }]) => [name, description])) as Record<
    Name,
    string
  >; // All names.
}

/** The highest maximum that the operator can set. */
export const LIMIT_MAX = 10_000_000;

/** The maximums that the operator has set for one connection or merchant. All other limits have their standard maximum. */
export type LimitOverrides<Name extends LimitName = LimitName> = { readonly [Limit in Name]?: number };

export const maximumOf = (overrides: LimitOverrides, name: LimitName): number =>
  overrides[name] ?? STORED_LIMITS[name].standard;

/** 409: the request is valid, but the connection or the merchant has as much of this as it may. */
export function limitReached(name: LimitName, maximum: number): Problem {
  const { unit, remedy } = STORED_LIMITS[name];
  return {
    code: "limit-reached",
    detail: `The maximum of ${maximum} ${unit} is reached. ${remedy}`,
    members: { limit: name, maximum },
  };
}

/** Seconds after which work that takes long may have ended. */
export const RETRY_SOON = { "retry-after": "5" };

/** 409: as much work of this kind is under way as may be. Nothing was done. */
export const tooManyAtOnce = (limit: FixedLimitName, maximum: number, unit: string): Problem => ({
  code: "limit-reached",
  detail: `The maximum of ${maximum} ${unit}${maximum === 1 ? "" : "s"} at a time is reached. Nothing was done: retry when one has ended.`,
  members: { limit, maximum },
  headers: RETRY_SOON,
});

/** A number sets a maximum, null returns to the standard one. */
export type LimitChange<Name extends LimitName = LimitName> = { readonly [Limit in Name]?: number | null };

/** Overrides after a change. */
export function changedOverrides(overrides: LimitOverrides, change: LimitChange): LimitOverrides {
  const changed = { ...overrides, ...change };
  return Object.fromEntries(Object.entries(changed).filter(([, maximum]) => maximum !== null));
}
