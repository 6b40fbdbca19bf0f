/** The state of a merchant's account. */
export type MerchantAccount = {
  readonly merchantId: string;
  /** Negative if the merchant owes. */
  readonly balanceMinor: bigint;
  /** How much the merchant may owe. Null means unlimited. */
  readonly creditLimitMinor: bigint | null;
};

export const BOOKING_KINDS = ["charge", "refund", "payment"] as const;
export type BookingKind = (typeof BOOKING_KINDS)[number];

/** A charge or refund to book once, by its id. */
export type Booking = {
  readonly merchantId: string;
  readonly id: string;
  readonly kind: BookingKind;
  /** Never negative. */
  readonly amountMinor: bigint;
};

export const signed = ({ kind, amountMinor }: Booking): bigint =>
  kind === "charge" ? -amountMinor : amountMinor;

/** How much can still be charged. Null means unlimited. Never negative, even if the limit was lowered. */
export function availableCredit({ balanceMinor, creditLimitMinor }: MerchantAccount): bigint | null {
  if (creditLimitMinor === null) return null;
  const free = balanceMinor + creditLimitMinor;
  return free > 0n ? free : 0n;
}

/** Why a charge was declined. */
export const CREDIT_LIMIT_EXCEEDED = "credit_limit_exceeded";

/** What an account without a limit can owe: four of the largest orders, so that its balance fits into a 64-bit integer. */
const UNLIMITED_MINOR = 4n * 10n ** 18n;

/** True if an account has room for a booking. Only charges need room. */
export function isAffordable(
  { balanceMinor, creditLimitMinor }: MerchantAccount,
  { kind, amountMinor }: Pick<Booking, "kind" | "amountMinor">,
): boolean {
  if (kind !== "charge") return true;
  const free = balanceMinor + (creditLimitMinor ?? UNLIMITED_MINOR);
  return amountMinor <= free || amountMinor === 0n;
}

export type Decision = "made" | "declined";

/**
 * Decides which bookings are made, in turn: each sees what the ones before it have left. A charge that exceeds the
 * limit is declined, and a smaller one after it can succeed. An earlier decision is kept: a booking is not made twice,
 * and a declined one is not made later.
 */
export function decideBookings(
  accounts: readonly MerchantAccount[],
  bookings: readonly Booking[],
  decidedBefore: (booking: Booking) => Decision | null,
): { readonly made: readonly Booking[]; readonly declined: ReadonlySet<Booking> } {
  const states = new Map(accounts.map((account) => [account.merchantId, account]));
  const decisions = new Map<string, Decision>();
  const made: Booking[] = [];
  const declined = new Set<Booking>();
  for (const booking of bookings) {
    const account = states.get(booking.merchantId);
    if (account === undefined) throw new Error("An account was locked, but is not there.");
    const key = `${booking.merchantId} ${booking.id}`;
    const before = decisions.get(key) ?? decidedBefore(booking);
    const decision = before ?? (isAffordable(account, booking) ? "made" : "declined");
    decisions.set(key, decision);
    if (decision === "declined") declined.add(booking);
    if (decision === "declined" || before === "made") continue;
    made.push(booking);
    states.set(booking.merchantId, { ...account, balanceMinor: account.balanceMinor + signed(booking) });
  }
  return { made, declined };
}
