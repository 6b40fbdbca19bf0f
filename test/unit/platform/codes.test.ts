import { describe, expect, it } from "vitest";
import {
  barcodeKey,
  barcodeKeysIn,
  hasValidCheckDigit,
  idsIn,
  isCommand,
  readCode,
} from "../../../src/platform/codes.ts";
import { ID_PREFIXES, newIdAt, toTypeId } from "../../../src/platform/ids.ts";
import { asPrinted, commandCode, commandOf, readScan, withCode } from "../../../web/src/ui/scan/read-scan.ts";

const ORDER = "ord_01m7y7np16fe68bxz4h91tdmdn";
const EXCHANGED = "ord_01m7z7np16fe68bxy4h91tdmdn";

describe("the service and the console read", () => {
  it.each<[string, string, string]>([
    ["an id", ORDER, ORDER],
    ["an id with caps lock", ORDER.toUpperCase(), ORDER],
    ["spaces and the suffix of a scanner", `  ${ORDER}\r\n`, ORDER],
    ["a prefix of AIM for Code 128", `]C0${ORDER}`, ORDER],
    ["a prefix of AIM for a QR code", `]Q3${ORDER.toUpperCase()}`, ORDER],
    ["the printed digits of an order", "100217030868996025482812412773664442411713", ORDER],
    ["the printed digits with a prefix", "]C1100217030868996025482812412773664442411713", ORDER],
    ["a prefix of AIM for an EAN", "]E04006381333931", "4006381333931"],
    ["FNC1 that a scanner sends first", "\u001d4006381333931", "4006381333931"],
    ["a tracking number", "1Z999AA10123456784", "1Z999AA10123456784"],
    ["another text in brackets", "]x", "]x"],
    ["nothing", " ", ""],
  ])("%s", (_, scanned, code) => {
    expect(readScan(scanned).code).toBe(code);
    expect(idsIn(scanned)[0]?.id ?? readCode(scanned)).toBe(code);
  });

  it.each<[string, string, string | null]>([
    ["the barcode itself", "4006381333931", "4006381333931"],
    ["a UPC of 12 digits as an EAN of 13", "0012345678905", "012345678905"],
    ["a UPC of 12 digits without its zero", "12345678905", "012345678905"],
    ["a GTIN of 14 as an EAN of 13", "9506000134352", "09506000134352"],
    ["an EAN of 8 digits as a GTIN of 14", "00000096385074", "96385074"],
    ["a UPC-E that ends with 1", "01278916", "012100007896"],
    ["a UPC-E that ends with 3", "04252635", "042500000265"],
    ["a UPC-E that ends with 4", "04252641", "042520000061"],
    ["a UPC-E that ends with 6", "04252665", "042526000065"],
    ["elements of GS1 in brackets", "(01)09506000134352(17)281231(10)A1", "09506000134352"],
    ["elements of GS1", "]d20109506000134352172812311 0A1", "09506000134352"],
    ["elements of GS1 with FNC1", "]C1\u001d10A1\u001d0109506000134352", "09506000134352"],
    ["a date before the number", "17281231010950600013435210A1", "09506000134352"],
    ["a GS1 Digital Link", "https://example.com/shop/01/09506000134352?17=281231", "9506000134352"],
    ["letters in another case", "abc-1", "ABC-1"],
    ["zeros alone", "0000", "0"],
    ["another number", "4006381333932", null],
    ["the number of a case", "14006381333938", null],
    ["digits in the form of GS1 with a wrong check digit", "0109506000134353", null],
    ["more than 14 digits with zeros", "004006381333931000", null],
    ["the GTIN of what a pallet contains", "(02)09506000134352(37)12", null],
  ])("the code of a product: %s", (_, scanned, barcode) => {
    const barcodes = ["4006381333931", "012345678905", "09506000134352", "96385074", "4006381333931000"];
    const others = ["012100007896", "042500000265", "042520000061", "042526000065", "ABC-1", "0"];
    const things = [...barcodes, ...others].map((each) => ({ barcode: each, sku: "X" }));
    const keys = barcodeKeysIn(scanned);
    const [key] = keys.filter((one) => things.some((thing) => barcodeKey(thing.barcode) === one));
    expect(key ?? null).toBe(barcode === null ? null : barcodeKey(barcode));
    const [found, another] = withCode(things, readScan(scanned));
    expect(found?.barcode === undefined ? null : barcodeKey(found.barcode)).toBe(key ?? null);
    expect(another).toBeUndefined();
  });

  it("a printed id of every kind and value, and none with a wrong digit", () => {
    for (const prefix of ID_PREFIXES)
      for (let count = 0; count < 50; count += 1) {
        const id = toTypeId(prefix, newIdAt(new Date(count * 2 ** 38)));
        const printed = asPrinted(id);
        expect(readScan(printed).code).toBe(id);
        expect(idsIn(printed)).toEqual([{ prefix, id }]);
        if (printed === id) continue;
        expect(printed).toMatch(/^\d{42}$/);
        const at = (count * 7) % 42;
        const wrong = printed.slice(0, at) + ((Number(printed[at]) + 1) % 10) + printed.slice(at + 1);
        expect(idsIn(wrong)).toEqual([]);
        expect(readScan(wrong).code).toBe(wrong);
      }
    expect(idsIn(`1${"9".repeat(39)}${String(BigInt(`1${"9".repeat(39)}`) % 97n).padStart(2, "0")}`)).toEqual(
      [],
    );
  });

  it("a command, which is neither an id nor the code of a product", () => {
    for (const number of [0, 1, 96, 97, 98, 1_000]) {
      const code = commandCode(number);
      expect(code).toMatch(/^9\d{15}$/);
      expect([commandOf(code), isCommand(code), isCommand(`]C1${code}`)]).toEqual([number, true, true]);
      expect(idsIn(code)).toEqual([]);
    }
    for (const code of ["9000000000000000001", "9000000000000342", "ord_1", "", "90000000000003a1"])
      expect([commandOf(code), isCommand(code)], code).toEqual([null, false]);
  });
});

describe("the service reads of an id whose `_` another keyboard layout has moved", () => {
  it("both ids that it can mean", () => {
    const ids = (scanned: string) => idsIn(scanned).map(({ id }) => id);
    expect(ids(EXCHANGED.replace("_", "?"))).toEqual([ORDER, EXCHANGED]);
    expect(ids("ord?01m8")).toEqual([]);
    expect(ids("fac?01m7a7np16fe68bxa4h91tdmdn")).toEqual(["fac_01m7a7np16fe68bxa4h91tdmdn"]);
    expect(ids("abc_01m7a7np16fe68bxa4h91tdmdn")).toEqual([]);
  });
});

describe("a check digit of GS1", () => {
  it.each(["4006381333931", "04006381333931", "96385074", "012345678905", "00340434161094042557"])(
    "%s",
    (number) => {
      expect(hasValidCheckDigit(number)).toBe(true);
      const wrong = `${number.slice(0, -1)}${(Number(number.at(-1)) + 1) % 10}`;
      expect(hasValidCheckDigit(wrong)).toBe(false);
    },
  );

  it.each(["", "1", "A006381333931", "4006381333931 "])("not %j", (text) =>
    expect(hasValidCheckDigit(text)).toBe(false),
  );
});
