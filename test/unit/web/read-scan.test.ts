import { describe, expect, it } from "vitest";
import { newIdAt, toTypeId } from "../../../src/platform/ids.ts";
import { asPrinted, commandCode, isBurst, readScan, withCode } from "../../../web/src/ui/scan/read-scan.ts";

/** What is on the keys of a layout in the place of some signs of a US keyboard, without and with Shift. */
const FRENCH = {
  ...{ 1: "&", 2: "é", 3: '"', 4: "'", 5: "(", 6: "-", 7: "è", 8: "_", 9: "ç", 0: "à", "-": ")", _: "°" },
  ...{ a: "q", q: "a", z: "w", w: "z", m: ",", A: "Q", Q: "A", Z: "W", W: "Z", M: "?", "]": "$", ":": "M" },
};
const BELGIAN = { ...FRENCH, 6: "§", 8: "!" };
const GERMAN = {
  ...{ y: "z", z: "y", Y: "Z", Z: "Y", "-": "ß", _: "?", "]": "+", "/": "-", "(": ")", ")": "=" },
};
const CZECH = {
  ...{ 1: "+", 2: "ě", 3: "š", 4: "č", 5: "ř", 6: "ž", 7: "ý", 8: "á", 9: "í", 0: "é" },
  ...{ y: "z", z: "y", Y: "Z", Z: "Y", "-": "=", _: "%", "]": ")" },
};
const HUNGARIAN = { 0: "ö", y: "z", z: "y", Y: "Z", Z: "Y", "-": "ü", _: "Ü", "]": "ú" };
const SPANISH = { "-": "'", _: "?", "]": "+", "/": "-" };
const SLOVAK = { ...CZECH, 2: "ľ", 3: "š", 5: "ť", "]": "ä" };
const LITHUANIAN = { 1: "ą", 2: "č", 3: "ę", 4: "ė", 5: "į", 6: "š", 7: "ų", 8: "ū" };
/** Its key for i types another i. */
const TURKISH = { i: "ı", "-": "*", _: "?", "]": "ü", "/": "." };
const NORDIC = { "-": "+", _: "?", "]": "¨", "/": "-" };
const LAYOUTS = {
  ...{ FRENCH, BELGIAN, GERMAN, CZECH, HUNGARIAN, SPANISH },
  ...{ SLOVAK, LITHUANIAN, TURKISH, NORDIC },
};

const typed = (text: string, layout: Readonly<Record<string, string>>): string =>
  [...text].map((sign) => layout[sign] ?? sign).join("");

describe.each(Object.entries(LAYOUTS))("a computer with a keyboard that is %s", (_, layout) => {
  it("reads each printed id and command without a guess, also with a prefix", () => {
    for (let count = 1; count <= 200; count += 1) {
      const id = toTypeId(
        (["ord", "shp", "pick"] as const)[count % 3] ?? "ord",
        newIdAt(new Date(count * 2 ** 37)),
      );
      for (const prefix of ["", "]C1"])
        expect(readScan(typed(prefix + asPrinted(id), layout))).toMatchObject({
          code: id,
          isOtherLayout: false,
        });
      expect(readScan(typed(commandCode(count), layout)).code).toBe(commandCode(count));
    }
  });

  it("reads the barcodes of products", () => {
    for (const code of ["4006381333931", "96385074", "012345678905"])
      expect(readScan(typed(code, layout)).code).toBe(code);
  });

  it("reads an id that was printed as text, as one of two at most", () => {
    for (let count = 1; count <= 200; count += 1) {
      const id = toTypeId("ord", newIdAt(new Date(count * 2 ** 37)));
      const { code, others } = readScan(typed(id, layout));
      expect([code, ...others].slice(0, 2), typed(id, layout)).toContain(id);
    }
  });

  it("offers what another code would be, and names the layout if that is unknown", () => {
    const { code, others, isOtherLayout } = readScan(typed("WEB-1002", layout));
    expect(code).toBe(typed("WEB-1002", layout));
    expect(others).toContain("WEB-1002");
    expect(isOtherLayout).toBe(true);
    const things = [{ barcode: null, sku: "WEB-1002" }];
    expect(withCode(things, readScan(typed("WEB-1002", layout)))).toEqual(things);
  });
});

describe("a code that was typed as it is", () => {
  it.each([
    "WEB-1002",
    "Größe-1",
    "1Z999AA10123456784",
    "web/2026 #7",
    "3*4006381333931",
    "0.25 kg",
    "DHL",
    "a_b",
    "",
  ])("%j stays the first reading", (text) => {
    expect(readScan(text).code).toBe(text);
  });

  it("has no second reading if it has only signs of codes", () => {
    for (const text of [
      "WEB-1002",
      "1Z999AA10123456784",
      "(01)09506000134352(10)A1",
      "a_b",
      "1250 g",
      "2*40",
    ])
      expect(readScan(text)).toEqual({ code: text, others: [], isOtherLayout: false });
  });

  it("is not taken for another layout if it is a name", () => {
    for (const text of ["Müller", "Weiß", "Æbelø", "Anne-Marie L’Écuyer"])
      expect(readScan(text).isOtherLayout, text).toBe(false);
    expect(readScan("WEBßNONE").isOtherLayout).toBe(true);
  });

  it("has the other case as a second one with caps lock", () => {
    expect(readScan("wEB-1", true)).toEqual({ code: "wEB-1", others: ["Web-1"], isOtherLayout: false });
  });

  it("is decided by the best fit: barcode, SKU, SKU without case", () => {
    const named = (code: string, ...things: [sku: string, barcode: string | null][]) =>
      withCode(
        things.map(([sku, barcode]) => ({ sku, barcode })),
        readScan(code),
      ).map(({ sku }) => sku);
    expect(named("77", ["77", null], ["A", "0077"])).toEqual(["A"]);
    expect(named("mug", ["MUG", null], ["mug", null])).toEqual(["mug"]);
    expect(named("Mug", ["MUG", null], ["mug", null])).toEqual(["MUG", "mug"]);
    expect(named("cup", ["MUG", "1"])).toEqual([]);
  });
});

describe("keys are those of a scanner", () => {
  const pressed = (gapsMs: readonly number[]) =>
    [0, ...gapsMs].map((_, at) => gapsMs.slice(0, at).reduce((sum, gap) => sum + gap, 0));
  it("of the slowest kind, which are even, if a suffix has ended them", () => {
    const gapsMs = [200, 204, 199, 203, 200, 207, 200, 201];
    expect(isBurst(pressed(gapsMs))).toBe(false);
    expect(isBurst(pressed(gapsMs), { isEnded: true })).toBe(true);
    expect(isBurst(pressed(gapsMs.slice(1)), { isEnded: true }), "too few").toBe(false);
    const ofPerson = [180, 230, 160, 240, 200, 150, 210, 190, 260];
    expect(isBurst(pressed(ofPerson), { isEnded: true })).toBe(false);
  });

  it.each<[string, number[], boolean]>([
    ["at once", [0, 0, 0, 0, 0, 0, 0], true],
    ["fast, and not evenly", [1, 40, 3, 60, 2], true],
    ["slow and even", [80, 84, 79, 81, 80, 83], true],
    ["a short code", [5, 5, 5], true],
    ["too few", [5, 5], false],
    ["a slow short code", [80, 80, 80], false],
    ["a person who types fast", [70, 95, 60, 88, 99, 75], false],
    ["a person", [180, 140, 210, 160], false],
    ["a pause within", [5, 5, 400, 5, 5], false],
  ])("%s", (_, gapsMs, isScanner) => expect(isBurst(pressed(gapsMs))).toBe(isScanner));
});
