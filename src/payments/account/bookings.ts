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
export function available({ balanceMinor, creditLimitMinor }: Account): bigint | null {
  if (creditLimitMinor === null) return null;
  const free = balanceMinor + creditLimitMinor;
  return free > 0n ? free : 0n;
}

/**
 * Which bookings are made, one after the other, each seeing what those before it have left: a charge that the limit
 * does not leave room for is declined, and a smaller one after it may fit. What has been booked before is done again
 * by doing nothing.
 */
export function decideBookings(
  accounts: readonly Account[],
  bookings: readonly Booking[],
  isBooked: (booking: Booking) => boolean,
): { readonly made: readonly Booking[]; readonly declined: ReadonlySet<Booking> } {
  const states = new Map(accounts.map((account) => [account.merchantId, account]));
  const made = new Map<string, Booking>();
  const declined = new Set<Booking>();
  for (const booking of bookings) {
    const account = states.get(booking.merchantId);
    if (account === undefined) throw new Error("An account was locked, but is not there.");
    if (isBooked(booking) || made.has(`${booking.merchantId} ${booking.id}`)) continue;
    const free = available(account);
    if (booking.kind === "charge" && free !== null && booking.amountMinor > free) {
      declined.add(booking);
      continue;
    }
    made.set(`${booking.merchantId} ${booking.id}`, booking);
    const balanceMinor = account.balanceMinor + signed(booking);
    states.set(booking.merchantId, { ...account, balanceMinor });
  }
  return { made: [...made.values()], declined };
}
