import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order, ShippingAddress } from "../../../src/lifecycle/order.ts";
import { anOrder, at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const shippingAddress: ShippingAddress = {
  firstName: "Ada",
  lastName: "Lovelace",
  name: null,
  company: null,
  address1: "12 Square",
  address2: null,
  city: "London",
  zip: "SW1Y",
  stateCode: null,
  countryCode: "GB",
  phone: null,
};
const real = (fields: Partial<Order> = {}) => anOrder({ ...REAL, shippingAddress, ...fields });
const ACCEPTED = { status: "ACCEPTED", acceptanceDueAt: at(-1), facilityId: "facility" } as const;
const correct = (order: Order, change: Partial<ShippingAddress>, isShippingPending = false) =>
  applyTransition(order, { name: "updateShippingAddress", change, isShippingPending }, NOW);
const TO_FRANCE = { countryCode: "FR" };

describe("updateShippingAddress", () => {
  it("changes the named fields, and removes what is null, without an event", () => {
    const order = real({ ...ACCEPTED, shippingAddress: { ...shippingAddress, company: "Engines" } });
    const outcome = correct(order, { city: "Leeds", company: null });
    const changed = { ...shippingAddress, city: "Leeds" };
    expect(outcome).toEqual({
      outcome: "applied",
      from: order,
      facts: [],
      order: { ...order, shippingAddress: changed, updatedAt: NOW },
    });
  });

  it.each([{}, { city: "London" }, { ...shippingAddress }])("changes nothing by %j", (change) => {
    const order = real(ACCEPTED);
    expect(correct(order, change)).toEqual({ outcome: "applied", from: order, order, facts: [] });
  });

  it.each<[string, Partial<Order>]>([
    ["NEW", {}],
    ["PROCESSING", { acceptanceDueAt: null }],
    ["ACCEPTED", ACCEPTED],
  ])("is possible while the order is %s", (status, fields) => {
    const order = real({ ...fields, status: status as Order["status"] });
    expect(correct(order, { zip: "N1" })).toMatchObject({ outcome: "applied", order: { status } });
  });

  it("is rejected once something has shipped, and when the order is settled", () => {
    const fields = { ...REAL, shippingAddress };
    const part = shippedOrder("one line shipped", { ...fields, status: "IN_PROGRESS" });
    expect(correct(part, { zip: "N1" })).toMatchObject({ outcome: "rejected", rule: "already_shipped" });
    const test = shippedOrder("one line shipped", { shippingAddress });
    expect(correct(test, { zip: "N1" })).toMatchObject({ outcome: "rejected", rule: "already_shipped" });
    const settled = shippedOrder("all shipped", { ...fields, status: "COMPLETED" });
    expect(correct(settled, { zip: "N1" })).toMatchObject({ outcome: "rejected", rule: "order_settled" });
  });

  it("takes the route away if the country changes, and only then", () => {
    const order = real(ACCEPTED);
    expect(correct(order, TO_FRANCE)).toMatchObject({ order: { routedAt: null, facilityId: null } });
    expect(correct(order, { city: "Leeds" })).toMatchObject({
      order: { routedAt: order.routedAt, facilityId: "facility" },
    });
  });

  it("waits for the charge for shipping if the order has a route to lose, whatever it is held for", () => {
    const rejected = { outcome: "rejected", rule: "shipping_charge_pending" };
    for (const holdReasons of [[], ["payment_failed"]])
      expect(correct(real({ ...ACCEPTED, holdReasons }), TO_FRANCE, true)).toMatchObject(rejected);
    for (const [fields, change] of [
      [ACCEPTED, { city: "Leeds" }],
      [{ ...ACCEPTED, routedAt: null, facilityId: null }, TO_FRANCE],
    ] as const)
      expect(correct(real(fields), change, true)).toMatchObject({ outcome: "applied" });
  });

  it("releases the hold for the address before the acceptance. After it, routing decides", () => {
    const held = { holdReasons: ["address_unserviceable"], routedAt: null };
    expect(correct(real(held), { zip: "N1" })).toMatchObject({
      order: { holdReasons: [], lastSequence: 2 },
      facts: [{ type: "order.onHoldReleased" }],
    });
    const more = { ...held, holdReasons: ["merchant_request", "address_unserviceable", "out_of_stock"] };
    expect(correct(real(more), TO_FRANCE)).toMatchObject({
      order: { holdReasons: ["merchant_request", "out_of_stock"] },
      facts: [{ type: "order.onHold" }],
    });
    const waiting = { ...ACCEPTED, ...held, facilityId: null };
    expect(correct(real(waiting), TO_FRANCE)).toMatchObject({
      order: { holdReasons: ["address_unserviceable"] },
      facts: [],
    });
    const routed = { ...ACCEPTED, holdReasons: ["address_unserviceable"] };
    expect(correct(real(routed), { zip: "N1" })).toMatchObject({
      order: { holdReasons: ["address_unserviceable"] },
    });
  });
});
