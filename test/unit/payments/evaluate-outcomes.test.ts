import { describe, expect, it } from "vitest";
import { ORDER_STATUSES, type Order } from "../../../src/lifecycle/order.ts";
import { consequencesOf, type RecordedOutcomes } from "../../../src/payments/record-responses.ts";
import { ledgerOf, NOW } from "../../support/ledger-entries.ts";
import { REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const FAILED = ["payment_failed"];
const anOrder = (fields: Partial<Order> = {}) => shippedOrder("nothing shipped", { ...REAL, ...fields });

/** Outcomes in a ledger whose entries are numbered from 1; `declined` and `payable` name them by their numbers. */
function outcomes(
  entries: string[],
  { declined = "", payable = "", hasPaid = false } = {},
): RecordedOutcomes {
  return {
    ledger: ledgerOf(...entries),
    declinedIds: new Set([...declined].map((number) => `entry-${number}`)),
    payableIds: new Set([...payable].map((number) => `entry-${number}`)),
    hasPaid,
  };
}

const consequences = (order: Order, recorded: RecordedOutcomes, retryMs: readonly number[] = [60_000]) =>
  consequencesOf(order, recorded, { retryMs, now: NOW });
const holdChange = (order: Order, recorded: RecordedOutcomes) => consequences(order, recorded).holdChange;

describe("a declined charge", () => {
  const declined = outcomes(["goods 1 failed"], { declined: "1" });

  it("holds an order that is not held for it yet", () => {
    expect(holdChange(anOrder(), declined)).toBe("addHold");
    expect(holdChange(anOrder({ holdReasons: ["out_of_stock"] }), declined)).toBe("addHold");
    expect(holdChange(anOrder({ holdReasons: FAILED }), declined)).toBeNull();
  });

  it.each(ORDER_STATUSES)("of an order in %s holds it unless it is settled", (status) => {
    const settled = ["COMPLETED", "CANCELED", "RETURNED"].includes(status);
    expect(holdChange(anOrder({ status }), declined)).toBe(settled ? null : "addHold");
  });

  it("holds an order that has shipped in part, and not one whose last line has shipped", () => {
    const fields = { ...REAL, status: "IN_PROGRESS" } as const;
    expect(holdChange(shippedOrder("one line shipped", fields), declined)).toBe("addHold");
    expect(holdChange(shippedOrder("all shipped", fields), declined)).toBeNull();
  });

  it("is attempted again by the schedule, or at once if it can be paid now", () => {
    const next = {
      kind: "goods",
      attempt: 2,
      refundOf: null,
      refundId: null,
      amountMinor: 1_000n,
      gateway: null,
    };
    const later = new Date(NOW.getTime() + 60_000);
    expect(consequences(anOrder(), declined).entries).toEqual([{ ...next, dueAt: later }]);
    const payable = outcomes(["goods 1 failed"], { declined: "1", payable: "1" });
    expect(consequences(anOrder(), payable).entries).toEqual([{ ...next, dueAt: NOW }]);
  });

  it("is not attempted again by the outcome of another entry", () => {
    const other = outcomes(["goods 1 failed", "shipping 1 succeeded"], { hasPaid: true });
    expect(consequences(anOrder({ holdReasons: FAILED }), other)).toEqual({
      entries: [],
      exhausted: [],
      holdChange: null,
    });
  });
});

describe("a paid charge", () => {
  const paid = outcomes(["goods 1 failed", "goods 2 succeeded"], { hasPaid: true });

  it("releases the hold for the failed payment", () => {
    expect(holdChange(anOrder({ holdReasons: FAILED }), paid)).toBe("releaseHold");
    expect(holdChange(anOrder({ holdReasons: ["x", ...FAILED] }), paid)).toBe("releaseHold");
    expect(
      holdChange(shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS", holdReasons: FAILED }), paid),
    ).toBe("releaseHold");
  });

  it("changes nothing where there is no such hold, or where the order is settled", () => {
    expect(holdChange(anOrder(), paid)).toBeNull();
    expect(holdChange(anOrder({ holdReasons: ["out_of_stock"] }), paid)).toBeNull();
    expect(holdChange(anOrder({ holdReasons: FAILED, status: "CANCELED" }), paid)).toBeNull();
  });

  it("keeps the hold while another charge is still declined", () => {
    const other = outcomes(["goods 1 succeeded", "shipping 1 failed"], { hasPaid: true });
    expect(holdChange(anOrder({ holdReasons: FAILED }), other)).toBeNull();
    expect(holdChange(anOrder(), other)).toBe("addHold");
  });

  it("that was waived while the gateway processed it leaves a hold that was placed since", () => {
    const waived = outcomes(["goods 1 failed", "goods 2 canceled"], { declined: "1" });
    expect(holdChange(anOrder({ holdReasons: FAILED }), waived)).toBeNull();
  });
});

describe("a canceled order", () => {
  const canceled = anOrder({ status: "CANCELED", canceledAt: NOW });

  it("is refunded a charge that was paid after the cancel, and is not charged again", () => {
    const paid = outcomes(["goods 1 succeeded", "shipping 1 failed"], { declined: "2", hasPaid: true });
    expect(consequences(canceled, paid).entries).toEqual([
      {
        kind: "refund",
        attempt: 1,
        refundOf: "entry-1",
        refundId: null,
        amountMinor: 1_000n,
        dueAt: NOW,
        gateway: "stripe",
      },
    ]);
  });

  it("is refunded also if a shipment has come back since", () => {
    const returned = anOrder({ status: "RETURNED", canceledAt: NOW });
    const paid = outcomes(["goods 1 succeeded"], { hasPaid: true });
    expect(consequences(returned, paid).entries).toMatchObject([{ kind: "refund", refundOf: "entry-1" }]);
  });

  it("attempts a declined refund again", () => {
    const declined = outcomes(["goods 1 succeeded", "refund 1 failed entry-1"], { declined: "2" });
    expect(consequences(canceled, declined).entries).toMatchObject([{ kind: "refund", attempt: 2 }]);
  });

  it("is refunded only if it is canceled", () => {
    const paid = outcomes(["goods 1 succeeded"], { hasPaid: true });
    expect(consequences(anOrder(), paid).entries).toEqual([]);
  });
});

describe("the operator gets a log line for a declined entry without a further attempt that no hold shows", () => {
  const lastCharge = outcomes(["goods 1 failed"], { declined: "1" });
  const lastRefund = outcomes(["goods 1 succeeded", "refund 1 failed entry-1"], { declined: "2" });
  const exhausted = (order: Order, recorded: RecordedOutcomes, retryMs: number[] = []) =>
    consequences(order, recorded, retryMs).exhausted.map(({ id }) => id);
  const shipped = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });

  it.each<[string, Order, RecordedOutcomes, string[]]>([
    ["a charge that a hold shows", anOrder(), lastCharge, []],
    ["a charge of an order that has shipped", shipped, lastCharge, ["entry-1"]],
    ["a charge of an order in COMPLETED", anOrder({ status: "COMPLETED" }), lastCharge, ["entry-1"]],
    ["a charge of an order in RETURNED", anOrder({ status: "RETURNED" }), lastCharge, ["entry-1"]],
    ["a charge of a canceled order", anOrder({ status: "CANCELED", canceledAt: NOW }), lastCharge, []],
    ["a refund", anOrder({ status: "CANCELED", canceledAt: NOW }), lastRefund, ["entry-2"]],
  ])("%s", (_, order, recorded, ids) => {
    expect(exhausted(order, recorded)).toEqual(ids);
    expect(exhausted(order, recorded, [60_000]), "not while an attempt follows").toEqual(
      order.canceledAt !== null && recorded === lastCharge ? ids : [],
    );
  });

  it("not of a charge that was waived, or paid, in the meantime", () => {
    const waived = outcomes(["goods 1 failed", "goods 2 canceled"], { declined: "1" });
    const paid = outcomes(["goods 1 failed", "goods 2 succeeded"], { declined: "1", hasPaid: true });
    expect(exhausted(shipped, waived)).toEqual([]);
    const other = outcomes(["goods 1 failed", "goods 2 canceled", "shipping 1 failed"], { declined: "1" });
    expect(exhausted(shipped, other)).toEqual([]);
    expect(exhausted(shipped, paid)).toEqual([]);
  });
});
