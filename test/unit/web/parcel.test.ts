import { describe, expect, it } from "vitest";
import type { ScannedOrder } from "../../../web/src/api/schema.d.ts";
import { type OpenPacking, openOrder } from "../../../web/src/pages/packing/packing.ts";
import { changeSince, parcelRequest, shipmentOfLostAttempt } from "../../../web/src/pages/packing/parcel.ts";

const line = (id: string, quantity: number, shipmentId: string | null = null) => ({
  ...{ id, quantity, shipmentId, canceledQuantity: 0 },
});
const shipment = (fields: object = {}) => ({
  ...{ id: "shp_1", carrier: "DHL", trackingNumber: null, weightGrams: 450, ...fields },
});
// Only what the rules read.
const orderOf = (fields: object = {}) =>
  ({
    orderId: "ord_1",
    externalOrderId: "shop-1",
    canShip: true,
    shippingAddress: { name: "Ada Lovelace", zip: "SW1Y 4JH" },
    lines: [line("a", 2), line("b", 1)],
    shipments: [],
    ...fields,
  }) as unknown as ScannedOrder;
const packed = (fields: Partial<OpenPacking> = {}): OpenPacking => ({
  ...openOrder(orderOf(), "DHL"),
  ...{ step: "tracking", counts: { a: 2, b: 1 }, weightGrams: 450, wasSent: true },
  ...fields,
});
const shipped = (made: object = {}, lines = [line("a", 2, "shp_1"), line("b", 1, "shp_1")]) =>
  orderOf({ canShip: false, lines, shipments: [shipment(made)] });

describe("an attempt whose response was lost", () => {
  const find = (now: ScannedOrder, state = packed(), trackingNumber: string | null = null) =>
    shipmentOfLostAttempt(state, parcelRequest(state, trackingNumber), now);

  it("made the shipment that has the goods, carrier, weight and number of the parcel", () => {
    expect(find(shipped())).toBe("shp_1");
    expect(find(shipped({ trackingNumber: "JD01" }), packed(), "JD01")).toBe("shp_1");
    const plain = packed({ weightGrams: null, carrier: "" });
    expect(find(shipped({ weightGrams: null, carrier: null }), plain)).toBe("shp_1");
  });

  it.each([
    ["another carrier", shipped({ carrier: "UPS" })],
    ["no carrier", shipped({ carrier: null })],
    ["another weight", shipped({ weightGrams: 451 })],
    ["another number", shipped({ trackingNumber: "JD01" })],
    ["fewer units of a line", shipped({}, [line("a", 1, "shp_1"), line("b", 1, "shp_1"), line("c", 1)])],
    ["fewer lines", shipped({}, [line("a", 2, "shp_1"), line("b", 1)])],
    ["a line more", shipped({}, [line("a", 2, "shp_1"), line("b", 1, "shp_1"), line("c", 1, "shp_1")])],
    ["nothing", orderOf()],
  ])("did not make a shipment that has %s", (_, now) => {
    expect(find(now)).toBeNull();
  });

  it("did not make a shipment that was there before, nor any if no response was lost", () => {
    expect(find(shipped(), packed({ order: orderOf({ shipments: [shipment()] }) }))).toBeNull();
    expect(find(shipped(), packed({ wasSent: false }))).toBeNull();
  });
});

describe("an order that changes while it is packed", () => {
  it("is packed as before if its goods and its address are as they were", () => {
    expect(changeSince(packed(), orderOf({ note: "Ring twice." }))).toBeNull();
  });

  it("keeps what was counted if its address was corrected, and has the new address", () => {
    const now = orderOf({ shippingAddress: { name: "Ada Lovelace", zip: "SW1Y 4JX" } });
    expect(changeSince(packed(), now)).toEqual({
      packing: packed({ order: now }),
      message: { outcome: "changed", order: now, parts: ["address"] },
    });
  });

  it.each([
    ["units", [line("a", 1, "shp_9"), line("c", 1), line("b", 1)]],
    ["a line", [line("a", 2, "shp_9"), line("b", 1)]],
  ])("is counted again if %s have shipped elsewhere", (_, lines) => {
    const now = orderOf({ lines, shippingAddress: {} });
    expect(changeSince(packed(), now)).toEqual({
      packing: openOrder(now, "DHL"),
      message: { outcome: "changed", order: now, parts: ["goods", "address"] },
    });
  });

  it("is closed if it can no longer ship, or is no longer here", () => {
    const now = orderOf({ canShip: false });
    expect(changeSince(packed(), now)).toEqual({
      packing: { step: "order" },
      message: { outcome: "cannot-ship", order: now },
    });
    expect(changeSince(packed(), undefined)?.message).toEqual({ outcome: "unknown-code", code: "shop-1" });
  });
});
