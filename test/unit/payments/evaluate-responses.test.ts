import { describe, expect, it } from "vitest";
import type { ClaimedPayment } from "../../../src/ledger/due-payments-sql.ts";
import {
  evaluateResponses,
  type GatewayResponse,
  isDeclined,
} from "../../../src/payments/record-responses.ts";

const NOW = new Date("2026-03-02T09:00:00.000Z");
const in_ = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const aPayment = (fields: Partial<ClaimedPayment> = {}): ClaimedPayment => ({
  connectionId: "connection",
  orderId: "order",
  entryId: "entry",
  merchantId: "merchant",
  gateway: "stripe",
  kind: "goods",
  attempt: 1,
  amountMinor: 1_000n,
  currency: "EUR",
  attemptCount: 1,
  claimId: "claim",
  firstAttemptedAt: NOW,
  reference: null,
  chargeReference: null,
  stripeMethod: null,
  ...fields,
});
const evaluate = (response: GatewayResponse | null, fields?: Partial<ClaimedPayment>) => {
  const payment = aPayment(fields);
  return { payment, ...evaluateResponses([{ payment, response }], NOW) };
};

describe("a gateway's response", () => {
  it("of success is an outcome with the gateway's reference", () => {
    const { payment, outcomes, postponements } = evaluate({ status: "succeeded", reference: "pi_1" });
    expect(outcomes).toEqual([{ payment, outcome: "succeeded", reference: "pi_1", reason: null }]);
    expect(postponements).toEqual([]);
  });

  it("of a decline is an outcome with its reason", () => {
    const { payment, outcomes, postponements } = evaluate({ status: "declined", reason: "card_declined" });
    expect(outcomes).toEqual([{ payment, outcome: "failed", reference: null, reason: "card_declined" }]);
    expect(postponements).toEqual([]);
  });

  it("without a decision postpones the payment, and keeps the gateway's reference", () => {
    const response = { status: "pending", reference: "pi_1", recheckAt: in_(3_600) } as const;
    const { payment, outcomes, postponements } = evaluate(response);
    expect(outcomes).toEqual([]);
    expect(postponements).toEqual([{ payment, dueAt: in_(3_600), reference: "pi_1" }]);
  });

  /** docs/design/money.md, "Each payment happens once": an unknown outcome is never a failure. */
  it.each([
    [1, 5],
    [2, 10],
    [3, 20],
    [4, 40],
    [7, 320],
    [8, 600],
    [9, 600],
    [1_000, 600],
  ])("that was lost at attempt %s is requested again after %s s", (attemptCount, seconds) => {
    const { payment, outcomes, postponements } = evaluate(null, { attemptCount });
    expect(outcomes).toEqual([]);
    expect(postponements).toEqual([{ payment, dueAt: in_(seconds), reference: null }]);
  });
});

it("each of several responses is evaluated, in their order", () => {
  const responded = [
    { payment: aPayment({ entryId: "a" }), response: { status: "succeeded", reference: "r" } },
    { payment: aPayment({ entryId: "b" }), response: null },
    { payment: aPayment({ entryId: "c" }), response: { status: "declined", reason: "x" } },
  ] as const;
  const { outcomes, postponements } = evaluateResponses(responded, NOW);
  expect(outcomes.map(({ payment }) => payment.entryId)).toEqual(["a", "c"]);
  expect(postponements.map(({ payment }) => payment.entryId)).toEqual(["b"]);
  expect(responded.map(isDeclined)).toEqual([false, false, true]);
});
