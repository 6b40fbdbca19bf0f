/** What an entry pays for: the goods at creation, the shipping when the order is routed, or a refund. */
type ChargeKind = "goods" | "shipping";
export type EntryKind = ChargeKind | "refund";

export const ENTRY_STATUSES = ["pending", "succeeded", "failed", "canceled"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export type GatewayName = "account" | "stripe";

/** An entry of an order's ledger with its outcome. Entries are only added, and an outcome is final (decision 0040). */
export type LedgerEntry = {
  readonly id: string;
  readonly kind: EntryKind;
  /** Counts from 1, for charges of the same kind and for refunds of the same charge. */
  readonly attempt: number;
  /** The charge that a refund returns. Null for charges. */
  readonly refundOf: string | null;
  readonly amountMinor: bigint;
  /** The currency of the order. */
  readonly currency: string;
  readonly status: EntryStatus;
  /** The gateway. Null while the entry is pending, and if it was canceled before it was sent. */
  readonly gateway: GatewayName | null;
  /** The gateway's code for the decline. Null unless the entry has failed. */
  readonly failureReason: string | null;
  readonly createdAt: Date;
};

/** An entry to add. It is due at a gateway from `dueAt` on. */
export type NewEntry = Pick<LedgerEntry, "kind" | "attempt" | "refundOf" | "amountMinor"> & {
  readonly dueAt: Date;
  /** The gateway to use. Null: the one that the merchant uses when the entry is first claimed. */
  readonly gateway: GatewayName | null;
};

/** The attempts at one charge of a kind, or at the refund of one charge, oldest first. */
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
/**
 * Declined, not paid since, and still owed. An attempt that was canceled at the end waives the charge (decision 0041).
 */
const hasFailed = (chain: Chain): boolean =>
  has(chain, "failed") && !has(chain, "succeeded") && newestOf(chain).status !== "canceled";
const isRefund = ([{ kind }]: Chain): boolean => kind === "refund";

/** Whether a charge was declined and has not been paid since. If so, the order is held (decision 0011). */
export const hasFailedCharge = (entries: readonly LedgerEntry[]): boolean =>
  failedCharges(entries).length > 0;

/** The newest attempts at charges that were declined and have not been paid since. They keep the order on hold. */
export const failedCharges = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  chainsOf(entries)
    .filter((chain) => !isRefund(chain) && hasFailed(chain))
    .map(newestOf);

/**
 * The refunds of a canceled order: one for each charge that succeeded and has no refund yet, at the gateway of the
 * charge.
 */
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

/**
 * What can be paid again at once: attempts that wait for their time, and declined entries without a scheduled attempt.
 */
export type Retries = { readonly bringForward: readonly LedgerEntry[]; readonly add: readonly NewEntry[] };

/**
 * What a request to retry the payment does. For a canceled order it attempts refunds again, but no charges, because the
 * order owes nothing.
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
 * The attempt that follows a declined one: at once if it could be paid now, otherwise by the schedule. After the last
 * attempt of the schedule there is none. A charge that was waived, or of a canceled order, is not attempted again.
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

/** Attempts to add and cancel at once, which waive declined charges that have no attempt to cancel. */
export const waivers = (entries: readonly LedgerEntry[], now: Date): NewEntry[] =>
  failedCharges(entries).map((entry) => nextAttempt(entry, now));

/** A new entry has a new id at the gateway, which would otherwise repeat its response to the earlier one. */
const nextAttempt = (
  { kind, attempt, refundOf, amountMinor, gateway }: LedgerEntry,
  dueAt: Date,
): NewEntry => ({
  kind,
  attempt: attempt + 1,
  refundOf,
  amountMinor,
  dueAt,
  // A charge can be attempted at another gateway than the one that declined it.
  gateway: kind === "refund" ? gateway : null,
});
