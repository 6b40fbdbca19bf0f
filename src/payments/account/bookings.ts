/** A merchant's account as it stands. */
export type Account = {
  readonly merchantId: string;
  /** Below zero the merchant owes. */
  readonly balanceMinor: bigint;
  /** What the merchant may owe; null means unlimited. */
  readonly creditLimitMinor: bigint | null;
};

export const BOOKING_KINDS = ["charge", "refund", "payment"] as const;
export type BookingKind = (typeof BOOKING_KINDS)[number];

/** Something that is to be booked once, under its id. */
export type Booking = {
  readonly merchantId: string;
  readonly id: string;
  readonly kind: BookingKind;
  /** Never signed. */
  readonly amountMinor: bigint;
};

export const signed = ({ kind, amountMinor }: Booking): bigint =>
  kind === "charge" ? -amountMinor : amountMinor;

/** What is still free to be charged; null means unlimited. Never below zero, also when a limit was lowered. */
export function availableCredit({ balanceMinor, creditLimitMinor }: Account): bigint | null {
  if (creditLimitMinor === null) return null;
  const free = balanceMinor + creditLimitMinor;
  return free > 0n ? free : 0n;
}

/** Why a charge was declined. */
export const CREDIT_LIMIT_EXCEEDED = "credit_limit_exceeded";

/** Whether an account has room for a booking; only charges need any. */
export function isAffordable(
  account: Account,
  { kind, amountMinor }: Pick<Booking, "kind" | "amountMinor">,
): boolean {
  const free = availableCredit(account);
  return kind !== "charge" || free === null || amountMinor <= free;
}

export type Decision = "made" | "declined";

/**
 * Which bookings are made, one after the other, each seeing what those before it have left: a charge that the limit
 * does not leave room for is declined, and a smaller one after it may fit. What was decided before is decided the same
 * way: a booking is not made twice, and not made after all when it was declined.
 */
export function decideBookings(
  accounts: readonly Account[],
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
