import { describe, expect, it } from "vitest";
import { actionsOf, type OrderActionName } from "../../../src/orders/reading/order-actions.ts";
import { ledgerOf } from "../../support/ledger-entries.ts";
import { anOrder, NOW, REAL } from "../../support/lifecycle-orders.ts";

const actionOf = (
  name: OrderActionName,
  { order = {}, charges = [] }: { order?: Parameters<typeof anOrder>[0]; charges?: readonly string[] },
) =>
  actionsOf(
    anOrder({ ...REAL, ...order }),
    { charges: ledgerOf(...charges), timeline: [], erasedAt: null },
    () => "operator",
    NOW,
  ).find((action) => action.name === name);

const canceled = { status: "CANCELED", canceledAt: NOW } as const;

describe("the effect of retryPayment", () => {
  it.each([
    ["retry_charge", "of a declined charge", {}, ["goods 1 failed"]],
    ["retry_charge", "of its next attempt", {}, ["goods 1 failed", "goods 2 pending"]],
    ["retry_refund", "of a declined refund", {}, ["goods 1 succeeded", "refund 1 failed entry-1 request"]],
    [
      "retry_refund",
      "of a declined refund of a canceled order, which owes no shipping",
      canceled,
      ["goods 1 succeeded", "shipping 1 failed", "refund 1 failed entry-1"],
    ],
    [
      "retry_charge_and_refund",
      "of both",
      {},
      ["goods 1 succeeded", "refund 1 failed entry-1 request", "shipping 1 failed"],
    ],
  ] as const)("is %s %s", (effect, _words, order, charges) => {
    expect(actionOf("retryPayment", { order, charges })).toMatchObject({ rule: null, effect });
  });
});

describe("the action ship", () => {
  it.each([
    [null, "ACCEPTED", {}],
    ["order_on_hold", "ACCEPTED", { holdReasons: ["out_of_stock"] }],
    ["not_accepted", "NEW", {}],
    ["not_accepted", "PROCESSING", {}],
  ] as const)("has the rule %s for an order that is %s and not routed, with %j", (rule, status, fields) => {
    expect(actionOf("ship", { order: { ...fields, status, routedAt: null } })).toMatchObject({ rule });
  });
});
