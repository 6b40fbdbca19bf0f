import { describe, expect, it } from "vitest";
import type { ScannedOrder } from "../../../web/src/api/schema.d.ts";
import {
  applyCommand,
  applyScan as applyRead,
  CHOICE,
  COMMANDS,
  type Command,
  carriersOf,
  countUnits,
  gramsOf,
  isNameOfCarrier,
  type OpenPacking,
  openOrder,
} from "../../../web/src/pages/packing/packing.ts";
import { goodsOf, unitsBack } from "../../../web/src/pages/returns/returned-goods.ts";
import { barsOf, symbolsOf } from "../../../web/src/ui/scan/code-128.ts";
import { commandCode, readScan } from "../../../web/src/ui/scan/read-scan.ts";

const applyScan = (state: OpenPacking, code: string) => applyRead(state, readScan(code));

type Line = ScannedOrder["lines"][number];
const line = (id: string, fields: Partial<Line> = {}): Line => ({
  id,
  productId: id,
  sku: `SKU-${id}`,
  name: id,
  barcode: `400${id}`,
  imageUrl: null,
  weightGrams: 100,
  quantity: 2,
  shipmentId: null,
  returnedQuantity: 0,
  canceledQuantity: 0,
  ...fields,
});
// Only what the rules read.
const orderOf = (...lines: Line[]) =>
  ({
    orderId: "ord_1",
    externalOrderId: "shop-1",
    carriers: ["Österreichische Post", "1Z999AA10123456784"],
    lines,
  }) as unknown as ScannedOrder;
const FIRST_PARCEL = { parcels: 0, damaged: {}, mayCancel: false, reference: "table-1" };
const open = (...lines: Line[]): OpenPacking => openOrder(orderOf(...lines), "DHL", FIRST_PARCEL);
const scanAll = (state: OpenPacking, ...codes: string[]) =>
  codes.reduce(({ state: before }, code) => applyScan(before, code), applyScan(state, ""));

describe("scanning goods", () => {
  it("counts barcodes, else SKUs, and continues with the scale with the last unit", () => {
    const state = open(line("a"), line("b", { barcode: null, quantity: 1 }));
    expect(scanAll(state, "400a").outcome).toMatchObject({ outcome: "counted", count: 1, of: 2 });
    const done = scanAll(state, "400a", "SKU-b", "400a");
    expect([done.outcome.outcome, done.state.step]).toEqual(["all-counted", "weight"]);
  });

  it.each([
    ["a foreign code", ["999"], "wrong-item"],
    ["one unit too many", ["400a", "400a", "400a"], "too-many"],
    ["too many at once", ["3*400a"], "too-many"],
    ["none at once", ["0*400a"], "too-many"],
    ["another order", ["ord_01m5qz1g8ze0tsqv8gq1mb1k1f"], "order-is-open"],
    ["a shipped line", ["400c"], "wrong-item"],
  ])("rejects %s, and counts nothing of it", (_, codes, outcome) => {
    const state = open(line("a"), line("b"), line("c", { shipmentId: "shp_1" }));
    const before = scanAll(state, ...codes.slice(0, -1)).state.counts;
    const after = scanAll(state, ...codes);
    expect(after.outcome.outcome).toBe(outcome);
    expect(after.state.counts).toEqual(before);
  });

  it("fills two lines of one product one after the other", () => {
    const state = open(line("a", { quantity: 1 }), line("b", { barcode: "400a", quantity: 1 }));
    expect(scanAll(state, "400a", "400a").state).toMatchObject({ step: "weight", counts: { a: 1, b: 1 } });
  });

  it("spreads many of one product over its lines, and rejects more than all of them have room for", () => {
    const mugs = (id: string) => line(id, { barcode: "400a", quantity: 6 });
    const state = open(mugs("a"), mugs("b"), line("c"));
    expect(scanAll(state, "12*400a")).toMatchObject({
      state: { step: "items", counts: { a: 6, b: 6 } },
      outcome: { outcome: "counted", count: 6, of: 6 },
    });
    const begun = scanAll(state, "400a", "7*400a");
    expect(begun).toMatchObject({
      state: { counts: { a: 6, b: 2 } },
      outcome: { outcome: "counted", count: 2, of: 6 },
    });
    expect(scanAll(begun.state, "5*400a")).toMatchObject({
      state: { counts: { a: 6, b: 2 } },
      outcome: { outcome: "too-many", of: 12 },
    });
    expect(scanAll(begun.state, "400c", "400c", "4*400a").state.step).toBe("weight");
  });

  it("takes a barcode or SKU with a star as it is, also of a line that has shipped", () => {
    const state = open(
      line("a", { barcode: "20", quantity: 12 }),
      line("b", { sku: "10*20" }),
      line("c", { barcode: "2*20", shipmentId: "shp_1" }),
    );
    expect(scanAll(state, "10*20").state.counts).toEqual({ b: 1 });
    expect(scanAll(state, "2*10*20").state.counts).toEqual({ b: 2 });
    expect(scanAll(state, "3*20").state.counts).toEqual({ a: 3 });
    expect(scanAll(state, "2*20").outcome).toEqual({ outcome: "wrong-item", code: "2*20" });
  });

  it("counts by hand within the line", () => {
    expect(countUnits(open(line("a")), "a", 5).state.counts).toEqual({ a: 2 });
    expect(countUnits(open(line("a")), "a", -1).state.counts).toEqual({ a: 0 });
  });
});

describe("weight, carrier and tracking", () => {
  it.each([
    ["1250", 1250],
    ["1250 g", 1250],
    ["1.25 kg", 1250],
    ["1,25KG", 1250],
    ["1.250 kg", 1250],
    ["1250.0 g", 1250],
    ["1250,00", 1250],
    ["1.250", null],
    ["1,250 g", null],
    ["1.000 g", null],
    ["450.5 g", null],
    ["1000 kg", 1_000_000],
    ["0", null],
    ["4006381333931", null],
    ["2000 kg", null],
    ["-5", null],
    ["heavy", null],
  ])("reads %s as %s g", (text, grams) => {
    expect(gramsOf(text)).toBe(grams);
  });

  it("takes no code of the order for its weight, unless the unit is typed", () => {
    const packed = scanAll(open(line("a", { barcode: "4006", sku: "10025" }), line("b")), "2*4006", "2*400b");
    expect(packed.state.step).toBe("weight");
    for (const code of ["4006", "10025"])
      expect(applyScan(packed.state, code)).toEqual({
        state: packed.state,
        outcome: { outcome: "code-in-place-of-weight", code },
      });
    expect(applyScan(packed.state, "2*4006").outcome.outcome).toBe("not-a-weight");
    expect(applyScan(packed.state, "4006 g").state).toMatchObject({ step: "carrier", weightGrams: 4006 });
  });

  it.each([
    [100, "2043", "heavy"],
    [100, "10000", "heavy"],
    [100, "10001", "code-in-place-of-weight"],
    [100, "0204711", "code-in-place-of-weight"],
    [100, "204711 g", "heavy"],
    [100, "204.711 kg", "heavy"],
    [30_000, "600000", "heavy"],
    [30_000, "600001", "code-in-place-of-weight"],
    [null, "70000", "weighed"],
    [null, "70001", "code-in-place-of-weight"],
    [null, "70001g", "weighed"],
  ])("with two units of %s g, says of %s that it is: %s", (weightGrams, text, outcome) => {
    const packed = scanAll(open(line("a", { weightGrams })), "2*400a");
    const { state, outcome: said } = applyScan(packed.state, text);
    expect(said.outcome).toBe(outcome);
    expect(state.step).toBe(outcome === "code-in-place-of-weight" ? "weight" : "carrier");
  });

  it("says of a unit that is scanned when all are in that it is too many, and not if some are left", () => {
    const full = scanAll(open(line("a"), line("b")), "2*400a", "400b");
    const closed = applyCommand(full.state, "close-parcel").state;
    expect(applyScan(closed, "400b").outcome).toEqual({ outcome: "not-a-weight", code: "400b" });
    const weight = scanAll(full.state, "400b").state;
    const carrier = applyScan(weight, "").state;
    for (const state of [weight, carrier, applyScan(carrier, "").state])
      for (const code of ["400a", "sku-A"])
        expect(applyScan(state, code)).toEqual({
          state,
          outcome: { outcome: "too-many", name: "a", of: 2 },
        });
  });

  it("takes -1 in each step for the next unit that is taken out", () => {
    for (const codes of [["400a"], ["2*400a"], ["2*400a", ""], ["2*400a", "", ""]]) {
      const { state, outcome } = scanAll(open(line("a")), ...codes, "-1");
      expect([state.next, outcome.outcome]).toEqual(["take-out", "scan-to-take-out"]);
      expect(applyScan(state, "400a").state.step).toBe("items");
    }
  });

  it("knows the order that is open by its id and by the partner's own, and names a wrong layout", () => {
    const orderId = "ord_01m5qz1g8ze0tsqv8gq1mb1k1f";
    const state = openOrder({ ...orderOf(line("a")), orderId }, "DHL", FIRST_PARCEL);
    for (const code of [orderId, "SHOP-1"])
      expect(applyScan(state, code)).toEqual({ state, outcome: { outcome: "this-order-is-open", code } });
    expect(applyScan(state, "WEBßNONE").outcome).toEqual({
      ...{ outcome: "wrong-item", code: "WEBßNONE", isOtherLayout: true },
    });
  });

  it("takes no code for the carrier", () => {
    const packed = scanAll(open(line("a")), "2*400a", "");
    expect(packed.state.step).toBe("carrier");
    for (const code of ["2*400a", "shop-1", "4006381333931", "1Z999AA10123456784", "Bote"])
      expect(applyScan(packed.state, code)).toEqual({
        state: packed.state,
        outcome: { outcome: "not-a-carrier", code },
      });
    expect(applyScan(packed.state, "Österreichische Post").state.step).toBe("tracking");
  });

  it("warns of a parcel that is lighter than its goods or much heavier, keeps the carrier, and takes no product for tracking", () => {
    const weighed = scanAll(open(line("a")), "2*400a", "199");
    expect(weighed.outcome).toEqual({ outcome: "light", expectedGrams: 200 });
    const packed = scanAll(open(line("a")), "2*400a").state;
    expect(applyScan(packed, "260").outcome.outcome).toBe("weighed");
    expect(applyScan(packed, "261").outcome).toEqual({ outcome: "heavy", expectedGrams: 200 });
    const { state: tracking, outcome } = applyScan(weighed.state, "");
    expect(outcome.outcome).toBe("carrier-chosen");
    expect(tracking.carrier).toBe("DHL");
    for (const code of ["2*400a", "shop-1", "450 g", "1.25 kg"])
      expect(applyScan(tracking, code).outcome).toEqual({ outcome: "not-tracking", code });
    expect(applyScan(tracking, "JD01").outcome).toEqual({
      outcome: "ship",
      trackingNumber: "JD01",
      isConfirmed: false,
    });
    expect(applyScan(tracking, "").outcome).toMatchObject({ outcome: "ship", trackingNumber: null });
  });
});

describe("a command, from a button or a printed barcode", () => {
  const command = (state: OpenPacking, ...names: Command[]) =>
    names.reduce(
      ({ state: before }, name) => applyScan(before, commandCode(COMMANDS[name])),
      applyScan(state, ""),
    );
  const choose = (state: OpenPacking, number: number) => applyScan(state, commandCode(CHOICE + number));

  it("means the same as its button", () => {
    const state = scanAll(open(line("a")), "400a").state;
    for (const name of Object.keys(COMMANDS) as Command[])
      expect(command(state, name)).toEqual(applyCommand(state, name));
    expect(applyScan(state, commandCode(99)).outcome.outcome).toBe("not-in-step");
  });

  it("takes the next scan out, or so many at once, and never more than are in", () => {
    const state = scanAll(open(line("a", { quantity: 5 })), "3*400a").state;
    expect(command(state, "take-out").outcome.outcome).toBe("scan-to-take-out");
    const out = applyScan(command(state, "take-out").state, "400a");
    expect(out).toMatchObject({
      state: { counts: { a: 2 }, next: "put-in" },
      outcome: { outcome: "taken-out" },
    });
    expect(applyScan(out.state, "-2*400a").state.counts).toEqual({ a: 0 });
    expect(applyScan(out.state, "-3*400a")).toMatchObject({
      state: { counts: { a: 2 } },
      outcome: { outcome: "none-in-box", of: 2 },
    });
    expect(scanAll(open(line("a")), "-1").outcome.outcome).toBe("nothing-in-box");
    const weighing = scanAll(open(line("a", { quantity: 1 })), "400a").state;
    const { state: toTakeOut } = applyCommand(weighing, "take-out");
    expect(applyCommand(toTakeOut, "undo").state, "it continues where it was").toEqual(weighing);
    expect(applyScan(toTakeOut, "400a").state).toMatchObject({ step: "items", counts: { a: 0 } });
    expect(scanAll(state, "-1", "400a").state.counts).toEqual({ a: 2 });
  });

  it("marks what is not there, and ships the rest", () => {
    const state = scanAll(open(line("a", { quantity: 3 }), line("b", { quantity: 1 })), "2*400a").state;
    const asked = command(state, "missing");
    expect(asked.state.question).toEqual({ about: "line", of: "missing" });
    const line2 = choose(asked.state, 2);
    expect(line2.state.question).toEqual({ about: "missing", lineId: "b" });
    const marked = choose(line2.state, 1);
    expect(marked.state).toMatchObject({ missing: { b: 1 }, rest: "hold", step: "items", question: null });
    const done = choose(command(marked.state, "missing").state, 1);
    expect(done).toMatchObject({
      state: { missing: { a: 1, b: 1 }, counts: { a: 2 }, step: "weight" },
      outcome: { outcome: "parcel-closed" },
    });
    expect(applyScan({ ...done.state, step: "items" }, "400b").state.missing).toEqual({ a: 1, b: 0 });
  });

  it("holds the order if nothing of it is there, and offers to cancel only who may", () => {
    const state = open(line("a"));
    expect(choose(command(state, "missing").state, 1).outcome.outcome).toBe("hold-rest");
    expect(choose(command(state, "missing").state, 2).outcome.outcome).toBe("not-asked");
    const operator = { ...state, mayCancel: true };
    expect(choose(command(operator, "missing").state, 2).state.rest).toBe("cancel");
  });

  it("asks whether a damaged unit was in the box", () => {
    const asked = applyScan(command(scanAll(open(line("a")), "400a").state, "damaged").state, "400a");
    expect(asked.state.question).toEqual({ about: "damaged", lineId: "a" });
    expect(choose(asked.state, 1).outcome).toEqual({
      outcome: "record-damaged",
      lineId: "a",
      wasInBox: true,
    });
    expect(choose(asked.state, 2).outcome).toEqual({
      outcome: "record-damaged",
      lineId: "a",
      wasInBox: false,
    });
    expect(choose(asked.state, 3)).toMatchObject({
      state: { question: null },
      outcome: { outcome: "not-asked" },
    });
  });

  it("does not ask whether a damaged unit was in the box if none is", () => {
    const asked = applyScan(command(open(line("a")), "damaged").state, "400a").state;
    expect(choose(asked, 1).outcome).toEqual({ outcome: "record-damaged", lineId: "a", wasInBox: false });
    expect(choose(asked, 2).outcome.outcome).toBe("not-asked");
  });

  it("closes a parcel with what is in it, and puts an order aside for a reason", () => {
    expect(command(open(line("a")), "close-parcel").outcome.outcome).toBe("nothing-in-box");
    expect(command(scanAll(open(line("a")), "400a").state, "close-parcel").state.step).toBe("weight");
    const asked = command(open(line("a")), "put-aside").state;
    expect(choose(asked, 4).outcome).toEqual({ outcome: "put-aside", reason: "question" });
  });

  it("takes no goods for an answer, and says so", () => {
    const asked = command(open(line("a")), "put-aside").state;
    expect(applyScan(asked, "400a")).toEqual({
      state: asked,
      outcome: { outcome: "not-an-answer", code: "400a" },
    });
    expect(command(asked, "undo")).toMatchObject({
      state: { question: null },
      outcome: { outcome: "not-asked" },
    });
    expect(command(open(line("a")), "undo").outcome.outcome).toBe("undo");
  });
});

describe("a carrier", () => {
  const packed = () => scanAll(open(line("a")), "2*400a", "").state;

  it("is chosen by number or name, in the order of their names, and never a number of a parcel", () => {
    const names = ["DHL", "DPD", "FedEx", "GLS", "Österreichische Post", "Royal Mail", "UPS", "USPS"];
    expect(carriersOf(packed())).toEqual(names);
    expect(carriersOf({ ...packed(), carrier: "UPS" })).toEqual(names);
    expect(applyScan(packed(), "5").state).toMatchObject({
      carrier: "Österreichische Post",
      step: "tracking",
    });
    expect(applyScan(packed(), "ups").state.carrier).toBe("UPS");
    const other = applyScan(packed(), String(carriersOf(packed()).length + 1));
    expect(other.state).toMatchObject({ step: "carrier", question: { about: "carrier" } });
  });

  it("is no tracking number, nor is the key that chose it", () => {
    const chosen = applyScan(packed(), "ups").state;
    for (const code of ["UPS", "dhl", "7", "SHOP-1"])
      expect(applyScan(chosen, code).outcome).toMatchObject({ outcome: "not-tracking", code });
  });

  it("is typed with a name, not scanned", () => {
    for (const name of ["Bote Meier", "DPD", "4PX"]) expect(isNameOfCarrier(packed(), name)).toBe(true);
    for (const code of ["1Z999AA10123456784", "400a", "shop-1", "", "12"])
      expect(isNameOfCarrier(packed(), code)).toBe(false);
  });
});

describe("what came back", () => {
  const shipped = orderOf(
    line("a", { shipmentId: "shp_1", returnedQuantity: 1 }),
    line("b", { shipmentId: "shp_1" }),
    line("c", { shipmentId: "shp_2" }),
    line("d"),
  );

  it("is a whole shipment if nothing of it is left, else units of lines", () => {
    expect(goodsOf(shipped, { a: 1, b: 2, c: 0 })).toEqual({ shipmentId: "shp_1" });
    expect(goodsOf(shipped, { a: 1, b: 1 })).toEqual({
      lines: [
        { lineId: "a", quantity: 1 },
        { lineId: "b", quantity: 1 },
      ],
    });
    expect(goodsOf(shipped, { a: 1, b: 2, c: 2 })).toMatchObject({ lines: [{}, {}, {}] });
    expect(goodsOf(shipped, { a: 0, d: 2 })).toBeNull();
  });

  it("is at first what is out of the parcel that was scanned, else of all parcels", () => {
    const parcels = [
      { id: "shp_1", trackingNumber: "JD01", scannedTrackingNumber: "420SW1Y4JHJD01" },
      { id: "shp_2", trackingNumber: null, scannedTrackingNumber: null },
    ] as ScannedOrder["shipments"]; // Only what the rule reads.
    const back = (code: string) => unitsBack({ ...shipped, shipments: parcels }, code);
    for (const code of ["jd01", "420SW1Y4JHJD01", "shp_1"]) expect(back(code)).toEqual({ a: 1, b: 2, c: 0 });
    expect(back("shp_2")).toEqual({ a: 0, b: 0, c: 2 });
    for (const code of ["ord_1", ""]) expect(back(code)).toEqual({ a: 1, b: 2, c: 2 });
  });
});

describe("Code 128", () => {
  it("has the checksum of the standard, modulo 103", () => {
    // 104 + 48*1 + 42*2 + 42*3 + 17*4 + 18*5 + 19*6 + 35*7 = 879, and 879 mod 103 = 55.
    expect(symbolsOf("PJJ123C")).toEqual([104, 48, 42, 42, 17, 18, 19, 35, 55, 106]);
    // 105 + 12*1 + 34*2 = 185, and 185 mod 103 = 82. Two digits are one symbol.
    expect(symbolsOf("1234")).toEqual([105, 12, 34, 82, 106]);
    expect(symbolsOf("12345")).toHaveLength(8);
    expect(symbolsOf("")).toBeNull();
    expect(symbolsOf("Ö")).toBeNull();
  });

  it("draws 11 modules for each symbol, 13 for the stop, and each symbol in its own way", () => {
    const all = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index));
    const drawn = all.map((sign) => barsOf(sign));
    expect(drawn.every((bars) => bars?.width === 3 * 11 + 13)).toBe(true);
    expect(new Set(drawn.map((bars) => JSON.stringify(bars))).size).toBe(95);
    // The bars of a symbol are an even number of modules wide: scanners check it.
    for (const bars of drawn)
      for (const from of [11, 22]) {
        const symbol = (bars?.bars ?? []).filter(({ at }) => at >= from && at < from + 11);
        expect(symbol.length).toBe(3);
        expect(symbol.reduce((sum, { width }) => sum + width, 0) % 2).toBe(0);
      }
  });
});
