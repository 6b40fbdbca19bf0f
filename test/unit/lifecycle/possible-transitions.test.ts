import { describe, expect, it } from "vitest";
import { HOLD_REASONS_MAX, ORDER_STATUSES } from "../../../src/lifecycle/order.ts";
import { possibleTransition, possibleTransitions } from "../../../src/lifecycle/possible-transitions.ts";
import { anOrder, at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const real = (fields: Parameters<typeof anOrder>[0]) => anOrder({ ...REAL, ...fields });
const namesOf = (list: ReturnType<typeof possibleTransitions>) =>
  list.filter(({ changes }) => changes).map(({ name }) => name);
const of = (order: ReturnType<typeof anOrder>, name: string, now = NOW) =>
  possibleTransitions(order, now).find((each) => each.name === name);

describe("the possible transitions of a real order", () => {
  it.each([
    ["NEW", ["hold", "updateShippingAddress", "cancel"]],
    ["PROCESSING", ["approve", "reject", "hold", "updateShippingAddress", "cancel"]],
    ["ACCEPTED", ["hold", "updateShippingAddress", "ship", "cancelLines", "cancel"]],
    ["CANCELED", []],
  ] as const)("are those of the chart when it is %s", (status, expected) => {
    expect(namesOf(possibleTransitions(real({ status }), NOW))).toEqual(expected);
  });

  it("have the rule that forbids each other one", () => {
    const order = real({ status: "NEW" });
    expect(of(order, "approve")).toMatchObject({ rule: "not_in_review", changes: false, eventTypes: [] });
    expect(of(order, "ship")?.rule).toBe("not_accepted");
    expect(of(real({ status: "ACCEPTED", holdReasons: ["x"] }), "ship")?.rule).toBe("order_on_hold");
    expect(of(shippedOrder("one line shipped", { ...REAL, status: "IN_PROGRESS" }), "complete")?.rule).toBe(
      "unshipped_lines",
    );
  });

  it("name the status and the events that follow", () => {
    const order = real({ status: "ACCEPTED" });
    expect(of(order, "ship")).toMatchObject({ status: "IN_PROGRESS", eventTypes: ["order.shipmentCreated"] });
    expect(of(order, "cancel")).toMatchObject({ status: "CANCELED", eventTypes: ["order.canceled"] });
    expect(of(order, "hold")).toMatchObject({ status: "ACCEPTED", eventTypes: ["order.onHold"] });
  });

  it("contain the shipping of an order that is not routed yet, because the request routes it first", () => {
    const order = real({ status: "ACCEPTED", routedAt: null });
    expect(of(order, "ship")).toMatchObject({ rule: null, status: "IN_PROGRESS" });
  });

  it("follow the deadline, not the stored status", () => {
    const order = real({ status: "NEW", routedAt: null, acceptanceDueAt: at(60) });
    expect(of(order, "ship", at(59))?.rule).toBe("not_accepted");
    expect(of(order, "ship", at(61))).toMatchObject({ rule: null, status: "IN_PROGRESS" });
  });

  it("do not contain a release without a hold, and contain it with any hold", () => {
    expect(of(real({ status: "NEW" }), "releaseHold")).toMatchObject({ rule: null, changes: false });
    expect(of(real({ status: "NEW", holdReasons: ["payment_failed"] }), "releaseHold")).toMatchObject({
      changes: true,
      eventTypes: ["order.onHoldReleased"],
    });
  });

  it("contain a release of some reasons, after which the order is still on hold", () => {
    const order = real({
      status: "NEW",
      holdReasons: ["payment_failed", "fraud"],
      routedAt: null,
      acceptanceDueAt: at(60),
    });
    const release = (...released: string[]) => possibleTransition(order, "releaseHold", at(61), released);
    expect(release("fraud")).toMatchObject({ status: "NEW", eventTypes: ["order.onHold"] });
    expect(release("payment_failed")).toMatchObject({ status: "ACCEPTED", eventTypes: ["order.onHold"] });
    expect(release()).toMatchObject({ rule: null, changes: false });
  });

  it("contain a further hold up to the limit of reasons", () => {
    const reasons = Array.from({ length: HOLD_REASONS_MAX }, (_, index) => `reason ${index}`);
    expect(of(real({ status: "NEW", holdReasons: reasons.slice(1) }), "hold")?.changes).toBe(true);
    expect(of(real({ status: "NEW", holdReasons: reasons }), "hold")?.rule).toBe("too_many_hold_reasons");
  });
});

describe("the possible transitions of a test order", () => {
  it.each(ORDER_STATUSES)("are those of the sandbox when it is %s", (status) => {
    const names = possibleTransitions(anOrder({ status }), NOW).map(({ name }) => name);
    expect(names).toEqual([
      "process",
      "accept",
      "hold",
      "releaseHold",
      "ship",
      "returnShipment",
      "complete",
      "cancel",
    ]);
  });

  it("contain the return of a settled order", () => {
    const order = shippedOrder("all shipped", { status: "COMPLETED" });
    expect(namesOf(possibleTransitions(order, NOW))).toEqual(["returnShipment"]);
    expect(of(order, "returnShipment")).toMatchObject({
      status: "RETURNED",
      eventTypes: ["order.shipmentReturned"],
    });
  });
});
