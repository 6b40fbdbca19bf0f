import { describe, expect, it } from "vitest";
import type { Charge, Refund } from "../../../web/src/api/schema.d.ts";
import { chargeLines } from "../../../web/src/pages/orders/order/charge-lines.ts";

const eur = (amount: string) => ({ amount, currency: "EUR" });
const ids = Array.from({ length: 100 }, (_, index) => `chg_${index}`).values();
const charge = (kind: Charge["kind"], status: Charge["status"], fields: Partial<Charge> = {}): Charge => ({
  id: ids.next().value ?? "",
  kind,
  status,
  amount: eur("10.00"),
  attempt: 1,
  refundOf: null,
  refundId: null,
  gateway: null,
  failureReason: status === "failed" ? "card_declined" : null,
  requestId: null,
  createdAt: "2026-03-02T10:00:00Z",
  ...fields,
});
const refund = (id: string, amount: string): Refund => ({
  id,
  amount: eur(amount),
  lines: [],
  reason: "damaged",
  note: null,
  reference: "ticket",
  actor: { kind: "operator", name: null, id: null },
  createdAt: "2026-03-02T10:00:00Z",
});
const linesOf = (charges: readonly Charge[], refunds: readonly Refund[] = []) =>
  chargeLines({ charges: [...charges], refunds: [...refunds] }).map(
    ({ kind, amount, status, attempts, failureReason }) =>
      [kind, amount.amount, status, attempts, failureReason].filter((part) => part !== null).join(" "),
  );

describe("the lines of an order's money", () => {
  it("fold the attempts at one charge, with the last reason until it is paid", () => {
    const declined = charge("goods", "failed");
    expect(linesOf([declined, charge("goods", "pending", { attempt: 2 })])).toEqual([
      "goods 10.00 pending 2 card_declined",
    ]);
    expect(
      linesOf([
        declined,
        charge("goods", "failed", { attempt: 2, failureReason: "expired_card" }),
        charge("goods", "succeeded", { attempt: 3 }),
      ]),
    ).toEqual(["goods 10.00 succeeded 3"]);
  });

  it("keep a further charge of the same kind apart, such as that of a corrected address", () => {
    expect(linesOf([charge("shipping", "succeeded"), charge("shipping", "pending", { attempt: 2 })])).toEqual(
      ["shipping 10.00 succeeded 1", "shipping 10.00 pending 1"],
    );
  });

  it("show a refund once, though it returns parts of several charges and is attempted again", () => {
    const goods = charge("goods", "succeeded");
    const shipping = charge("shipping", "succeeded", { amount: eur("5.00") });
    const part = (of: Charge, status: Charge["status"], attempt = 1) =>
      charge("refund", status, { refundOf: of.id, refundId: "rfd_1", attempt });
    const refunds = [refund("rfd_1", "15.00")];
    const both = ["goods 10.00 succeeded 1", "shipping 5.00 succeeded 1"];
    expect(linesOf([goods, shipping, part(goods, "succeeded"), part(shipping, "pending")], refunds)).toEqual([
      ...both,
      "refund 15.00 pending 1",
    ]);
    expect(linesOf([goods, shipping, part(goods, "failed"), part(goods, "succeeded", 2)], refunds)).toEqual([
      ...both,
      "refund 15.00 succeeded 2",
    ]);
  });

  it("keep the refunds of a canceled order apart by their charge", () => {
    const [goods, shipping] = [charge("goods", "succeeded"), charge("shipping", "succeeded")];
    const back = (of: Charge, status: Charge["status"], attempt = 1) =>
      charge("refund", status, { refundOf: of.id, attempt });
    expect(
      linesOf([
        goods,
        shipping,
        back(goods, "failed"),
        back(shipping, "succeeded"),
        back(goods, "pending", 2),
      ]),
    ).toEqual([
      "goods 10.00 succeeded 1",
      "shipping 10.00 succeeded 1",
      "refund 10.00 pending 2 card_declined",
      "refund 10.00 succeeded 1",
    ]);
  });
});
