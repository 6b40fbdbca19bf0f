import { hasFailedPayment, isSettled, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { OrderState } from "../lifecycle/order.ts";

/** The purpose of an entry: the goods at creation, the shipping when the order is routed, or a refund. */
type ChargeKind = "goods" | "shipping";
export type EntryKind = ChargeKind | "refund";

export const ENTRY_STATUSES = ["pending", "succeeded", "failed", "canceled"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export type GatewayName = "account" | "stripe";

/**
 * An entry of an order's ledger with its outcome. Entries are only added, and an outcome is final
 * (docs/design/money.md, "The ledger is append-only").
 */
export type LedgerEntry = {
  readonly id: string;
  readonly kind: EntryKind;
  /** Counts from 1, for charges of the same kind, and for the refund of the same charge by the same request. */
  readonly attempt: number;
  /** The charge that a refund returns. Null for charges. */
  readonly refundOf: string | null;
  /** The request that a refund belongs to. Null for charges, and for the refunds of a canceled order. */
  readonly refundId: string | null;
  readonly amountMinor: bigint;
  /** The currency of the order. */
  readonly currency: string;
  readonly status: EntryStatus;
  /** The gateway. Null while the entry is pending, and if it was canceled before it was sent. */
  readonly gateway: GatewayName | null;
  /** The gateway's code for the decline. Null unless the entry has failed. */
  readonly failureReason: string | null;
  /** As in `x-request-id`. Null if no request caused the entry. */
  readonly requestId: string | null;
  readonly createdAt: Date;
};

/** An entry to add. It is due at a gateway from `dueAt` on. */
export type NewEntry = Pick<LedgerEntry, "kind" | "attempt" | "refundOf" | "refundId" | "amountMinor"> & {
  readonly dueAt: Date;
  /** The gateway to use. Null: the one that the merchant uses when the entry is first claimed. */
  readonly gateway: GatewayName | null;
};

/** The attempts at one charge of a kind, or at one refund of one charge, oldest first. */
type Chain = readonly [LedgerEntry, ...LedgerEntry[]];

function chainsOf(entries: readonly LedgerEntry[]): Chain[] {
  const chains = Map.groupBy(entries, (entry) => chainOf(entry, entries));
  return [...chains.values()].map(
    // A group is never empty.
    (chain) => chain.toSorted((one, other) => one.attempt - other.attempt) as unknown as Chain,
  );
}

function chainOf(entry: LedgerEntry, entries: readonly LedgerEntry[]): string {
  const { kind, refundOf, refundId } = entry;
  return kind === "refund"
    ? `${refundOf} ${refundId ?? ""}`
    : `${kind} ${endedBefore(entry, entries).length}`;
}

/**
 * The attempts of earlier charges of the same kind. After a charge was paid or waived, a further one is a charge of its own:
 * shipping to a corrected address can cost more (docs/design/lifecycle.md, "Corrected addresses").
 */
const endedBefore = (
  { kind, attempt }: LedgerEntry,
  entries: readonly LedgerEntry[],
): readonly LedgerEntry[] =>
  entries.filter(
    (entry) =>
      entry.kind === kind &&
      kind !== "refund" &&
      entry.attempt < attempt &&
      (entry.status === "succeeded" || entry.status === "canceled"),
  );

const has = (chain: Chain, status: EntryStatus): boolean => chain.some((entry) => entry.status === status);
const newestOf = (chain: Chain): LedgerEntry => chain.at(-1) ?? chain[0];
/**
 * Declined, not paid since, and still owed. An attempt that was canceled at the end waives the charge
 * (docs/design/money.md, "Each payment happens once").
 */
const hasFailed = (chain: Chain): boolean =>
  has(chain, "failed") && !has(chain, "succeeded") && newestOf(chain).status !== "canceled";
const isRefund = ([{ kind }]: Chain): boolean => kind === "refund";

/**
 * True if a charge was declined and has not been paid since. If so, the order is held
 * (docs/design/lifecycle.md, "A failed payment is a hold").
 */
export const hasFailedCharge = (entries: readonly LedgerEntry[]): boolean =>
  failedCharges(entries).length > 0;

/** The newest attempts at charges that were declined and have not been paid since. They keep the order on hold. */
export const failedCharges = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  chainsOf(entries)
    .filter((chain) => !isRefund(chain) && hasFailed(chain))
    .map(newestOf);

/** A charge that succeeded, and what of it has not been refunded. A refund counts from its request on. */
type Refundable = { readonly charge: LedgerEntry; readonly leftMinor: bigint };

/**
 * What can still be refunded of each charge, in the order of the charges. A declined refund is still owed, and so it
 * counts: it is attempted again, not replaced by another one. Hence no charge is ever refunded twice.
 */
function refundableOf(entries: readonly LedgerEntry[]): Refundable[] {
  const refunds = chainsOf(entries).filter(isRefund).map(newestOf);
  return entries
    .filter(({ kind, status }) => kind !== "refund" && status === "succeeded")
    .map((charge) => ({
      charge,
      leftMinor: refunds
        .filter(({ refundOf, status }) => refundOf === charge.id && status !== "canceled")
        .reduce((left, { amountMinor }) => left - amountMinor, charge.amountMinor),
    }))
    .filter(({ leftMinor }) => leftMinor > 0n);
}

/**
 * What the shipping of an order was priced at so far, in minor units: what was paid, and what was waived. Null while an
 * attempt is pending.
 */
export function shippingChargedMinor(entries: readonly LedgerEntry[]): bigint | null {
  const chains = chainsOf(entries.filter(({ kind }) => kind === "shipping"));
  if (chains.some((chain) => has(chain, "pending"))) return null;
  return chains
    .filter((chain) => has(chain, "succeeded") || has(chain, "failed"))
    .reduce((sum, chain) => sum + newestOf(chain).amountMinor, 0n);
}

/** The paid part of it, in minor units. */
export const shippingPaidMinor = (entries: readonly LedgerEntry[]): bigint =>
  entries
    .filter(({ kind, status }) => kind === "shipping" && status === "succeeded")
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);

/**
 * True if a charge for shipping waits for its outcome, and no attempt at it was declined. An order whose shipping was
 * declined is not routed before that is paid or waived, so its price can still change.
 */
export function isShippingPending(entries: readonly LedgerEntry[]): boolean {
  const declined = new Set(failedCharges(entries).map(({ id }) => id));
  return entries.some(
    ({ id, kind, status }) => kind === "shipping" && status === "pending" && !declined.has(id),
  );
}

/** How much of an order's charges can still be refunded, in minor units. */
export const refundableMinor = (entries: readonly LedgerEntry[]): bigint =>
  refundableOf(entries).reduce((sum, { leftMinor }) => sum + leftMinor, 0n);

/** The charges for the goods, with all refunds. */
export const ofGoods = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.filter(({ kind }) => kind !== "shipping");

/** The charges for the shipping, with all refunds. */
export const ofShipping = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.filter(({ kind }) => kind !== "goods");

/** How much of the goods can still be refunded, in minor units. Null while they are charged, or declined and still owed. */
export function refundableGoodsMinor(entries: readonly LedgerEntry[]): bigint | null {
  const goods = ofGoods(entries);
  const isPending = goods.some(({ kind, status }) => kind === "goods" && status === "pending");
  return isPending || hasFailedCharge(goods) ? null : refundableMinor(goods);
}

/** The refunds of a canceled order: what is left of each charge that succeeded, at the gateway of the charge. */
export const refundsOwed = (entries: readonly LedgerEntry[], now: Date): NewEntry[] =>
  refundableOf(entries).map(({ charge, leftMinor }) => firstRefund(charge, leftMinor, null, now));

/**
 * The entries that return an amount by request: from the oldest charge first, so the goods before the shipping. The
 * amount must not be more than `refundableMinor`.
 */
export function refundsFor(
  entries: readonly LedgerEntry[],
  { id, amountMinor }: { readonly id: string; readonly amountMinor: bigint },
  now: Date,
): NewEntry[] {
  let openMinor = amountMinor;
  const parts = refundableOf(entries).flatMap(({ charge, leftMinor }) => {
    const partMinor = leftMinor < openMinor ? leftMinor : openMinor;
    openMinor -= partMinor;
    return partMinor === 0n ? [] : [firstRefund(charge, partMinor, id, now)];
  });
  if (openMinor > 0n) throw new Error("More would be refunded than was charged.");
  return parts;
}

const firstRefund = (
  { id, gateway }: LedgerEntry,
  amountMinor: bigint,
  refundId: string | null,
  dueAt: Date,
): NewEntry => ({ kind: "refund", attempt: 1, refundOf: id, refundId, amountMinor, dueAt, gateway });

/**
 * What can be paid again at once: attempts that wait for their time, and declined entries without a scheduled attempt.
 */
export type Retries = { readonly bringForward: readonly LedgerEntry[]; readonly add: readonly NewEntry[] };

/**
 * What a request to retry the payment does: it attempts declined charges and refunds again. A canceled order owes
 * nothing, so its charges are not attempted.
 */
export function retriesOf(entries: readonly LedgerEntry[], canceled: boolean, now: Date): Retries {
  const failed = chainsOf(entries).filter((chain) => hasFailed(chain) && (isRefund(chain) || !canceled));
  const newest = failed.map(newestOf);
  return {
    bringForward: newest.filter(({ status }) => status === "pending"),
    add: newest.filter(({ status }) => status === "failed").map((entry) => nextAttempt(entry, now)),
  };
}

/**
 * The attempt that follows a declined one: at once if it could be paid now, otherwise by the schedule, which attempts out of
 * turn do not use up. After the last attempt of the schedule there is none. A charge that was waived, or of a canceled order, is not attempted again.
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
  const chain = chainsOf(entries).find((attempts) => attempts.some(({ id }) => id === declined.id));
  const isNewest = chain !== undefined && newestOf(chain).id === declined.id;
  if (!isNewest || (canceled && declined.kind !== "refund")) return null;
  const dueAt = payable ? now : plannedAfter(chain, waitsMs, now);
  return dueAt === null ? null : nextAttempt(declined, dueAt);
}

/** Attempts to add and cancel at once, which waive declined charges that have no attempt to cancel. */
export const waivers = (entries: readonly LedgerEntry[], now: Date): NewEntry[] =>
  failedCharges(entries).map((entry) => nextAttempt(entry, now));

/** A new entry has a new id at the gateway, which would otherwise repeat its response to the earlier one. */
const nextAttempt = (
  { kind, attempt, refundOf, refundId, amountMinor, gateway }: LedgerEntry,
  dueAt: Date,
): NewEntry => ({
  kind,
  attempt: attempt + 1,
  refundOf,
  refundId,
  amountMinor,
  dueAt,
  // A charge can be attempted at another gateway than the one that declined it.
  gateway: kind === "refund" ? gateway : null,
});

export type LedgerChange = {
  readonly before: OrderState;
  readonly after: OrderState;
  /** As in `x-request-id`. Absent or null: no request caused the change. */
  readonly requestId?: string | null;
};

/**
 * A real order that needs no review is charged for its goods at once, one in review when it leaves it
 * (docs/design/money.md, "Charged when approved").
 */
export const isChargedAtCreation = ({ testMode, status }: Pick<OrderState, "testMode" | "status">): boolean =>
  !testMode && status !== "PROCESSING";

/**
 * The effect of a transition on the ledger. Null if there is none. An order that leaves the review is charged for its goods,
 * unless it is rejected (docs/design/money.md, "Charged when approved"). A canceled order is refunded. If an order is released
 * although its payment has failed, the declined charges are waived. Test orders are never charged.
 */
export function ledgerEffectOf({ before, after }: LedgerChange): "charge" | "refund" | "waive" | null {
  if (after.testMode) return null;
  if (wasCanceled(after)) return wasCanceled(before) ? null : "refund";
  if (before.status === "PROCESSING" && after.status !== "PROCESSING") return "charge";
  return hasFailedPayment(before) && !hasFailedPayment(after) && !isSettled(after) ? "waive" : null;
}

/**
 * When the schedule plans the attempt after the last of these, which was declined now. Each interval begins with the
 * decline before it. An attempt that was declined before its planned time was made out of turn: by request, or because the
 * merchant could pay more. It uses up no interval, so the planned time stays. Null after the last attempt of the schedule.
 * @param attempts at one charge or refund, oldest first. Each was added when the one before it was declined.
 */
export function plannedAfter(
  attempts: readonly { readonly createdAt: Date }[],
  waitsMs: readonly number[],
  now: Date,
): Date | null {
  const declines = [...attempts.slice(1).map(({ createdAt }) => createdAt), now].map((at) => at.getTime());
  let plannedMs = 0;
  let used = 0;
  for (const declinedMs of declines) {
    if (declinedMs < plannedMs) continue;
    const waitMs = waitsMs[used];
    if (waitMs === undefined) return null;
    plannedMs = declinedMs + waitMs;
    used += 1;
  }
  return new Date(plannedMs);
}

/** The sums moved for an order, in minor units of its currency. Pending and declined entries do not count. */
export type OrderTotals = {
  readonly goodsMinor: bigint;
  readonly shippingMinor: bigint;
  readonly refundedMinor: bigint;
  /** Charged minus refunded. */
  readonly totalMinor: bigint;
};

export function totalsOf(entries: readonly LedgerEntry[]): OrderTotals {
  const sum = (wanted: EntryKind): bigint =>
    entries
      .filter(({ kind, status }) => kind === wanted && status === "succeeded")
      .reduce((total, { amountMinor }) => total + amountMinor, 0n);
  const [goodsMinor, shippingMinor, refundedMinor] = [sum("goods"), sum("shipping"), sum("refund")];
  return { goodsMinor, shippingMinor, refundedMinor, totalMinor: goodsMinor + shippingMinor - refundedMinor };
}
