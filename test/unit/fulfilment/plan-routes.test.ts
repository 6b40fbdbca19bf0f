import { describe, expect, it } from "vitest";
import {
  holdToAdd,
  releaseOf,
  withoutRoutingHolds,
} from "../../../src/fulfilment/routing/assign-facilities.ts";
import {
  type Choice,
  planRoutes,
  reservationsFor,
  type WantedHold,
} from "../../../src/fulfilment/routing/plan-routes.ts";

type UnroutedOrder = WantedHold["order"];
const anOrder = (id: string, fields: Partial<UnroutedOrder> = {}): UnroutedOrder => ({
  merchantId: "merchant",
  connectionId: "connection",
  id,
  holdReasons: [],
  countryCode: "DE",
  currency: "EUR",
  wasRouted: false,
  lines: [],
  ...fields,
});
const routedTo = (facilityId: string, shippingMinor: bigint): Choice => ({
  outcome: "routed",
  facilityId,
  shippingMinor,
});
const heldFor = (reason: "out_of_stock" | "address_unserviceable"): Choice => ({ outcome: "held", reason });

describe("planRoutes", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => anOrder(id)) as [
    UnroutedOrder,
    UnroutedOrder,
    UnroutedOrder,
    UnroutedOrder,
  ];

  it("routes orders with a facility, or if there are no facilities; holds the others", () => {
    const { routes, holds } = planRoutes(
      [a, b, c, d],
      [
        { order: a, choice: routedTo("hall", 490n) },
        { order: b, choice: { outcome: "unrouted" } },
        { order: c, choice: heldFor("out_of_stock") },
        { order: d, choice: heldFor("address_unserviceable") },
      ],
    );
    expect(routes).toEqual([
      { order: a, facilityId: "hall", shippingMinor: 490n },
      { order: b, facilityId: null, shippingMinor: 0n },
    ]);
    expect(holds).toEqual([
      { order: a, reason: null },
      { order: b, reason: null },
      { order: c, reason: "out_of_stock" },
      { order: d, reason: "address_unserviceable" },
    ]);
  });

  it("neither routes nor holds an order without a choice, whose payment failed", () => {
    expect(planRoutes([a], [])).toEqual({ routes: [], holds: [{ order: a, reason: null }] });
  });
});

describe("reservations", () => {
  const lines = [
    { id: "line-1", productId: "stocked", quantity: 2, weightGrams: null },
    { id: "line-2", productId: "made-to-order", quantity: 3, weightGrams: null },
    { id: "line-3", productId: "stocked", quantity: 4, weightGrams: null },
  ];
  const order = anOrder("a", { lines });
  const stocked = new Map([["stocked", new Map([["hall", 9]])]]);

  it("are the units of each line whose product has stock, at the facility of the route", () => {
    const reserved = { orderId: "a", facilityId: "hall", productId: "stocked" };
    expect(reservationsFor([{ order, facilityId: "hall", shippingMinor: 0n }], stocked)).toEqual([
      { ...reserved, lineId: "line-1", quantity: 2 },
      { ...reserved, lineId: "line-3", quantity: 4 },
    ]);
  });

  it("are not made without a facility", () => {
    expect(reservationsFor([{ order, facilityId: null, shippingMinor: 0n }], stocked)).toEqual([]);
  });
});

describe("the holds of routing", () => {
  const BOTH = ["out_of_stock", "address_unserviceable"];
  type Case = [
    holds: string[],
    wanted: WantedHold["reason"],
    placed: string[] | null,
    released: string[] | null,
  ];

  it.each<Case>([
    [[], null, null, null],
    [[], "out_of_stock", ["out_of_stock"], null],
    [["out_of_stock"], "out_of_stock", null, null],
    [["out_of_stock"], null, null, ["out_of_stock"]],
    [["out_of_stock"], "address_unserviceable", ["address_unserviceable"], ["out_of_stock"]],
    [["address_unserviceable"], "out_of_stock", ["out_of_stock"], ["address_unserviceable"]],
    [BOTH, null, null, BOTH],
    [BOTH, "out_of_stock", null, ["address_unserviceable"]],
    [["merchant_request", "payment_failed"], null, null, null],
    [["merchant_request", "out_of_stock"], null, null, ["out_of_stock"]],
  ])(
    "of an order held for %j, when %j is wanted: place %j, release %j",
    (holdReasons, reason, placed, released) => {
      const wanted = { order: anOrder("a", { holdReasons }), reason };
      expect(holdToAdd(wanted)).toEqual(placed && { name: "addHold", reasons: placed });
      expect(releaseOf(wanted)).toEqual(released && { name: "releaseHold", reasons: released });
    },
  );

  it("are the ones that routing leaves out; all others stay", () => {
    const holdReasons = ["merchant_request", "out_of_stock", "payment_failed", "address_unserviceable", "x"];
    expect(withoutRoutingHolds(anOrder("a", { holdReasons }))).toEqual([
      "merchant_request",
      "payment_failed",
      "x",
    ]);
  });
});
