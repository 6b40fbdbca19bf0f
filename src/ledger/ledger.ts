/** Which money moves an order is about: goods at creation, shipping when it is routed, and what goes back. */
type ChargeKind = "goods" | "shipping";
export type EntryKind = ChargeKind | "refund";

export const ENTRY_STATUSES = ["pending", "succeeded", "failed", "canceled"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export type GatewayName = "account" | "stripe";

/** An entry of an order's ledger with its outcome. Entries are only ever added, and an outcome is final (decision 0040). */
export type LedgerEntry = {
  readonly id: string;
  readonly kind: EntryKind;
  /** Counts from 1 within the same kind, for refunds within the same charge. */
  readonly attempt: number;
  /** The charge that a refund gives back; null for charges. */
  readonly refundOf: string | null;
  readonly amountMinor: bigint;
  /** The order's. */
  readonly currency: string;
  readonly status: EntryStatus;
  /** The gateway; null while pending, and for an entry that was canceled before it was sent. */
  readonly gateway: GatewayName | null;
  /** The gateway's code for why it declined; null unless failed. */
  readonly failureReason: string | null;
  readonly createdAt: Date;
};

/** An entry that is to be added; it is due at a gateway from `dueAt` on. */
export type NewEntry = Pick<LedgerEntry, "kind" | "attempt" | "refundOf" | "amountMinor"> & {
  readonly dueAt: Date;
  /** The gateway to use; null: the one that the merchant uses when the entry is first claimed. */
  readonly gateway: GatewayName | null;
};

/** Attempts at the same money, oldest first: one charge of a kind, or the refund of one charge. */
type Chain = readonly [LedgerEntry, ...LedgerEntry[]];

function chainsOf(entries: readonly LedgerEntry[]): Chain[] {
  const chains = Map.groupBy(entries, ({ kind, refundOf }) => refundOf ?? kind);
  return [...chains.values()].map(
    // A group is never empty.
    (chain) => chain.toSorted((one, other) => one.attempt - other.attempt) as unknown as Chain,
  );
}

const has = (chain: Chain, status: EntryStatus): boolean => chain.some((entry) => entry.status === status);
const newestOf = (chain: Chain): LedgerEntry => chain.at(-1) ?? chain[0];
/** Declined, not paid since, and still owed: an attempt that was canceled at the end waives the charge (decision 0041). */
const hasFailed = (chain: Chain): boolean =>
  has(chain, "failed") && !has(chain, "succeeded") && newestOf(chain).status !== "canceled";
const isRefund = ([{ kind }]: Chain): boolean => kind === "refund";

/**
 * Whether a charge was declined and has not been paid since: then the order is held (decision 0011). A charge that was
 * not declined holds nothing.
 */
export const hasFailedCharge = (entries: readonly LedgerEntry[]): boolean =>
  failedCharges(entries).length > 0;

/** The newest attempts at charges that were declined and have not been paid since: what keeps the order on hold. */
export const failedCharges = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  chainsOf(entries)
    .filter((chain) => !isRefund(chain) && hasFailed(chain))
    .map(newestOf);

/** What a canceled order gives back: each charge that was really made and has no refund yet, the way it came. */
export function refundsOwed(entries: readonly LedgerEntry[], now: Date): NewEntry[] {
  const given = new Set(entries.map(({ refundOf }) => refundOf));
  return entries
    .filter(({ id, kind, status }) => kind !== "refund" && status === "succeeded" && !given.has(id))
    .map(({ id, amountMinor, gateway }) => ({
      kind: "refund",
      attempt: 1,
      refundOf: id,
      amountMinor,
      dueAt: now,
      gateway,
    }));
}

/** What is to be paid again at once: attempts that wait for their time, and attempts that nothing has scheduled. */
export type Retries = { readonly bringForward: readonly LedgerEntry[]; readonly add: readonly NewEntry[] };

/**
 * What a request to retry the payment can do. Refunds of a canceled order are attempted again; its charges are not,
 * because it owes nothing any more.
 */
export function retriesOf(entries: readonly LedgerEntry[], canceled: boolean, now: Date): Retries {
  const failed = chainsOf(entries).filter((chain) => hasFailed(chain) && isRefund(chain) === canceled);
  const newest = failed.map(newestOf);
  return {
    bringForward: newest.filter(({ status }) => status === "pending"),
    add: newest.filter(({ status }) => status === "failed").map((entry) => nextAttempt(entry, now)),
  };
}

/**
 * The attempt that follows a declined one: at once if it could be paid by now, otherwise by the schedule, which has
 * none after the last. A charge of a canceled order is not attempted again, nor is one that has been waived.
 */
export function attemptAfter(
  declined: LedgerEntry,
  entries: readonly LedgerEntry[],
  {
    canceled,
    payable,
    waitsMs,
    now,
  }: { canceled: boolean; payable: boolean; waitsMs: readonly number[]; now: Date },
): NewEntry | null {
  const waitMs = payable ? 0 : waitsMs[declined.attempt - 1];
  const isNewest = entries.every(
    ({ kind, refundOf, attempt }) =>
      kind !== declined.kind || refundOf !== declined.refundOf || attempt <= declined.attempt,
  );
  if (waitMs === undefined || !isNewest || (canceled && declined.kind !== "refund")) return null;
  return nextAttempt(declined, new Date(now.getTime() + waitMs));
}

/** The attempts that waive charges when they are canceled unsent, for what has no attempt that can be canceled. */
export const waivers = (entries: readonly LedgerEntry[], now: Date): NewEntry[] =>
  failedCharges(entries).map((entry) => nextAttempt(entry, now));

/** A new entry, so that its id is new to the gateway too: gateways repeat their response to a known id. */
const nextAttempt = (
  { kind, attempt, refundOf, amountMinor, gateway }: LedgerEntry,
  dueAt: Date,
): NewEntry => ({
  kind,
  attempt: attempt + 1,
  refundOf,
  amountMinor,
  dueAt,
  gateway: kind === "refund" ? gateway : null, // A charge may go another way than the one that declined it.
});
