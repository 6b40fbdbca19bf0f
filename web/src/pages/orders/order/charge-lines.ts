import type { Charge, Money, Order, Refund } from "../../../api/schema.d.ts";

/** What was to be moved, with all attempts at it. */
export type ChargeLine = {
  readonly id: string;
  readonly kind: Charge["kind"];
  readonly amount: Money;
  /** Of the newest attempt. */
  readonly status: Charge["status"];
  /** Of the newest attempt that was declined, unless it was paid since. */
  readonly failureReason: string | null;
  readonly attempts: number;
  /** The request that a refund belongs to. Null for charges, and for the refund of a canceled order. */
  readonly refund: Refund | null;
};

/** The charges and refunds of an order: a line for each, in their order, however often it was attempted. */
export function chargeLines({ charges, refunds }: Pick<Order, "charges" | "refunds">): ChargeLine[] {
  const lines: ChargeLine[] = [];
  for (const charge of charges) {
    const refund = refunds.find(({ id }) => id === charge.refundId) ?? null;
    // The parts of one refund are one line: they go to several charges, which the sums show.
    const at = lines.findIndex((line) =>
      refund === null ? continues(line, charge, charges) : line.refund?.id === refund.id,
    );
    const before = lines[at];
    const isRetry = charge.attempt > 1;
    const line = {
      id: before?.id ?? charge.id,
      kind: charge.kind,
      amount: refund?.amount ?? charge.amount,
      status: before === undefined || isRetry ? charge.status : worse(before.status, charge.status),
      failureReason:
        charge.status === "succeeded" ? null : (charge.failureReason ?? before?.failureReason ?? null),
      attempts: (before?.attempts ?? 0) + (before === undefined || isRetry ? 1 : 0),
      refund,
    };
    if (at === -1) lines.push(line);
    else lines[at] = line;
  }
  return lines;
}

/** A further attempt at what was declined. After a charge was paid or waived, a further one of its kind is another charge. */
const continues = (
  line: ChargeLine,
  { kind, attempt, refundOf }: Charge,
  charges: readonly Charge[],
): boolean =>
  line.kind === kind &&
  line.refund === null &&
  attempt > 1 &&
  (line.status === "failed" || line.status === "pending") &&
  (refundOf === null || charges.find(({ id }) => id === line.id)?.refundOf === refundOf);

const ORDER: readonly Charge["status"][] = ["succeeded", "canceled", "pending", "failed"];
const worse = (one: Charge["status"], other: Charge["status"]): Charge["status"] =>
  ORDER.indexOf(one) > ORDER.indexOf(other) ? one : other;
