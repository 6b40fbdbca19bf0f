import { describe, expect, it } from "vitest";
import type { ScannedOrder } from "../../../web/src/api/schema.d.ts";
import { draftOf, resume } from "../../../web/src/pages/packing/drafts.ts";
import {
  changeSince,
  type OpenPacking,
  openOrder,
  parcelRequest,
  shipmentOfLostAttempt,
  unitsOfParcel,
} from "../../../web/src/pages/packing/packing.ts";

const line = (id: string, quantity: number, shipmentId: string | null = null) => ({
  ...{ id, quantity, shipmentId, canceledQuantity: 0 },
});
const shipment = (fields: object = {}) => ({
  ...{
    id: "shp_1",
    carrier: "DHL",
    trackingNumber: null,
    scannedTrackingNumber: null,
    weightGrams: 450,
    ...fields,
  },
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
const KEPT = { parcels: 1, damaged: { a: 1 }, mayCancel: false, reference: "table-1" };
const packed = (fields: Partial<OpenPacking> = {}): OpenPacking => ({
  ...openOrder(orderOf(), "DHL", KEPT),
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
    const label = {
      trackingNumber: "9400111206213859496247",
      scannedTrackingNumber: "420100019400111206213859496247",
    };
    expect(find(shipped(label), packed(), label.scannedTrackingNumber)).toBe("shp_1");
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
      packing: openOrder(now, "DHL", KEPT),
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

describe("a parcel with a part of the goods", () => {
  it("names the units of each line, or whole lines if no line is divided", () => {
    const lines = (counts: Record<string, number>) => parcelRequest(packed({ counts }), null);
    expect(lines({ a: 1, b: 1 })).toMatchObject({
      lines: [
        { lineId: "a", quantity: 1 },
        { lineId: "b", quantity: 1 },
      ],
    });
    expect(lines({ b: 1 })).toMatchObject({ lineIds: ["b"] });
    expect(unitsOfParcel(packed({ counts: { b: 1 } }))).toEqual({ b: 1 });
    expect(unitsOfParcel(packed()), "a whole order has the slip of the service").toBeNull();
  });
});

describe("what a table keeps in the browser", () => {
  const kept = (fields: Partial<OpenPacking> = {}, sent?: string | null) =>
    draftOf(packed({ wasSent: sent !== undefined, ...fields }), { savedAtMs: 0, isAside: false, sent });

  it("has nothing of the buyer, and continues where it was", () => {
    expect(JSON.stringify(kept())).not.toMatch(/Ada|SW1Y/);
    expect(resume(kept(), orderOf(), false)).toEqual({
      packing: packed({ wasSent: false }),
      parts: [],
      shipmentId: null,
    });
  });

  it("counts again what has shipped elsewhere, and says that the address was corrected", () => {
    const fewer = orderOf({ lines: [line("a", 1, "shp_9"), line("c", 1), line("b", 1)] });
    expect(resume(kept(), fewer, false)).toMatchObject({
      packing: { step: "items", counts: {} },
      parts: ["goods"],
    });
    const moved = orderOf({ shippingAddress: { name: "Ada Lovelace", zip: "SW1Y 4JX" } });
    expect(resume(kept(), moved, false)).toMatchObject({
      packing: { counts: { a: 2, b: 1 } },
      parts: ["address"],
    });
  });

  it("finds the shipment of an attempt whose response was lost with the tab", () => {
    expect(resume(kept({}, null), shipped(), false).shipmentId).toBe("shp_1");
    expect(resume(kept({}, "JD01"), shipped({ trackingNumber: "JD01" }), false).shipmentId).toBe("shp_1");
    expect(resume(kept({}, "JD01"), shipped({ trackingNumber: "JD02" }), false).shipmentId).toBeNull();
    expect(resume(kept(), shipped(), false).shipmentId).toBeNull();
  });
});
