import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  availableCredit,
  type Booking,
  CREDIT_LIMIT_EXCEEDED,
  type Decision,
  decideBookings,
  type MerchantAccount,
  signed,
} from "../../../src/payments/account/bookings.ts";

describe("the room of an account", () => {
  const account = (balanceMinor: bigint, creditLimitMinor: bigint | null): MerchantAccount => ({
    merchantId: "m",
    balanceMinor,
    creditLimitMinor,
  });
  const booking = (kind: Booking["kind"], amountMinor: bigint, id: string): Booking => ({
    merchantId: "m",
    id,
    kind,
    amountMinor,
  });

  it.each<[bigint, bigint | null, bigint | null]>([
    [0n, null, null],
    [0n, 0n, 0n],
    [50n, 0n, 50n],
    [-50n, 100n, 50n],
    [-100n, 100n, 0n],
    [-200n, 100n, 0n], // The limit was lowered.
  ])("of a balance of %s and a limit of %s is %s", (balance, limit, room) => {
    expect(availableCredit(account(balance, limit))).toBe(room);
  });

  it("is used in order: a charge that does not fit is declined, a smaller one after it can fit, a refund makes room", () => {
    const asked = [
      booking("charge", 60n, "a"),
      booking("charge", 50n, "b"),
      booking("charge", 40n, "c"),
      booking("charge", 1n, "d"),
      booking("refund", 60n, "e"),
      booking("charge", 60n, "f"),
    ];
    const { made, declined } = decideBookings([account(0n, 100n)], asked, () => null);
    expect(made.map(({ id }) => id).join("")).toBe("acef");
    expect([...declined].map(({ id }) => id).join("")).toBe("bd");
  });

  it("is unlimited without a limit", () => {
    const asked = [booking("charge", 2n ** 60n, "a"), booking("charge", 1n, "b")];
    const { made, declined } = decideBookings([account(-1n, null)], asked, () => null);
    expect(made).toEqual(asked);
    expect(declined.size).toBe(0);
  });

  it("ends without a limit before a balance that cannot be stored: the charge is declined, and can be paid later", () => {
    const largestOrder = 10n ** 18n;
    const asked = ["a", "b", "c", "d", "e"].map((id) => booking("charge", largestOrder, id));
    const { made, declined } = decideBookings([account(0n, null)], asked, () => null);
    expect(made.map(({ id }) => id).join("")).toBe("abcd");
    expect([...declined].map(({ id }) => id).join("")).toBe("e");
  });

  it("is separate for each merchant", () => {
    const accounts = [account(0n, 10n), { ...account(0n, 10n), merchantId: "n" }];
    const asked = [
      booking("charge", 10n, "a"),
      { ...booking("charge", 10n, "a"), merchantId: "n" },
      booking("charge", 1n, "b"),
    ];
    const { made, declined } = decideBookings(accounts, asked, () => null);
    expect(made).toEqual(asked.slice(0, 2));
    expect([...declined]).toEqual(asked.slice(2));
  });

  it("is an error for a missing account", () => {
    const asked = [booking("charge", 1n, "a")];
    expect(() => decideBookings([], asked, () => null)).toThrow("An account was locked, but is not there.");
  });

  it("is named by the reason of a decline", () => {
    expect(CREDIT_LIMIT_EXCEEDED).toBe("credit_limit_exceeded");
  });

  it("is never exceeded, and never charged twice for one id, in any sequence", () => {
    const anyBooking = fc
      .record({
        kind: fc.constantFrom<Booking["kind"]>("charge", "charge", "refund"),
        amount: fc.bigInt({ min: 1n, max: 100n }),
        id: fc.nat(12),
      })
      .map(({ kind, amount, id }) => booking(kind, amount, `id-${id}`));
    fc.assert(
      fc.property(
        fc.array(anyBooking),
        fc.bigInt({ min: 0n, max: 200n }),
        fc.nat(12),
        fc.nat(12),
        (asked, limit, known, rejected) => {
          const decidedBefore = ({ id }: Booking): Decision | null => {
            if (id === `id-${known}`) return "made";
            return id === `id-${rejected}` ? "declined" : null;
          };
          const { made, declined } = decideBookings([account(0n, limit)], asked, decidedBefore);
          let balance = 0n;
          for (const one of made) {
            balance += signed(one);
            expect(balance).toBeGreaterThanOrEqual(-limit);
          }
          expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
          const madeIds = new Set([...made.map(({ id }) => id), `id-${known}`]);
          // Each id is decided once: before, or here.
          for (const one of asked) expect(declined.has(one)).toBe(!madeIds.has(one.id));
          expect(made.some((one) => decidedBefore(one) !== null)).toBe(false);
        },
      ),
    );
  });
});
