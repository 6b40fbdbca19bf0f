import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, type Encoding, encodingOf, isMisread } from "../../../src/platform/tables/decode.ts";

/** The text of bytes that arrive in pieces of a size, and its encoding. */
async function decoded(bytes: Buffer, size = 7): Promise<[string, Encoding]> {
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  let encoding = encodingOf(bytes);
  const parts: string[] = [];
  for await (const part of decode(pieces(), encoding, (found) => {
    encoding = found;
  }))
    parts.push(part);
  return [parts.join(""), encoding];
}

const swapped = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

describe("the encoding of a file", () => {
  const text = "sku;name\nA;Gr\u00f6\u00dfe 10 \u20ac\n";
  it.each<[string, Buffer, Encoding]>([
    ["UTF-8", Buffer.from(text), "utf-8"],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`), "utf-8"],
    ["UTF-16 with a mark", Buffer.from(`\ufeff${text}`, "utf16le"), "utf-16le"],
    ["UTF-16 without", Buffer.from(text, "utf16le"), "utf-16le"],
    ["UTF-16 of the other order", swapped(`\ufeff${text}`), "utf-16be"],
    ["UTF-16 of the other order without a mark", swapped(text), "utf-16be"],
    ["Windows-1252", Buffer.from(text.replace("\u20ac", "\x80"), "latin1"), "windows-1252"],
  ])("%s, however it arrives", async (_, bytes, encoding) => {
    for (const size of [1, 2, 3, 5, 1_000]) expect(await decoded(bytes, size)).toEqual([text, encoding]);
  });

  it.each<[string, string, Encoding]>([
    ["ISO 8859-15", "sku;name\nA;Gr\xf6\xdfe 10 \xa4\n", "iso-8859-15"],
    ["Mac Roman in German", "sku;name\nA;Gr\x9a\xa7e f\x9fr M\x8anner\n", "macintosh"],
    ["Mac Roman in French", "sku;name\nA;Cr\x8fme br\x9el\x8ee\n", "macintosh"],
    [
      "Windows-1252 with signs",
      "sku;name\nA;f\xfcr 5 \x80 \x96 \x84M\x93, 1\xbd\x94, \xa75, Ko\x9aice\n",
      "windows-1252",
    ],
    ["Windows-1252 in capitals", "sku;name\nA;STRA\xdfE KO\x8aICE\n", "windows-1252"],
  ])("that is not UTF-8 is recognised by its words: %s", async (_, bytes, encoding) => {
    const file = Buffer.from(bytes, "latin1");
    expect(await decoded(file, 1_000)).toEqual([new TextDecoder(encoding).decode(file), encoding]);
  });

  it("is probably another one where a sign or a capital is within a word, or UTF-8 was read as another one", () => {
    for (const text of [
      "Gr\u0161\u00a7e",
      "f\u0178r",
      "Gr\u201d\u00e1e",
      "Gr\u00c3\u00b6\u00c3\u0178e",
      "5 \u00e2\u201a\u00ac",
      "M\ufffdller",
    ])
      expect(isMisread(text), text).toBe(true);
    for (const text of [
      "Gr\u00f6\u00dfe",
      "Ko\u0161ice",
      "KO\u0160ICE",
      "S\u00c3O",
      "L\u2019\u00c9cuyer",
      "\u00a7 5",
      "5\u00bd\u201d",
      "A\u2013B",
      "5 \u20ac/kg",
      "4\u00d72",
      "l\u2019eau\u2026",
    ])
      expect(isMisread(text), text).toBe(false);
  });

  it("is UTF-8 for every text, however it arrives", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (rest, size) => {
          const whole = `sku${rest.toWellFormed()}`;
          expect(await decoded(Buffer.from(whole), size)).toEqual([whole, "utf-8"]);
        },
      ),
    );
  });

  it.each([
    [
      "UTF-8 and then Windows-1252",
      Buffer.concat([Buffer.from("a\u00f6\n\n"), Buffer.from("\xfc,1\n", "latin1")]),
    ],
    ["letters that Windows-1252 does not have", Buffer.from("a\n\n\x81\xfc,1", "latin1")],
    ["half a character of UTF-16", Buffer.concat([Buffer.from("a\n\nb", "utf16le"), Buffer.from([0])])],
  ])("is none of them: %s", async (_, bytes) => {
    await expect(decoded(bytes, 4)).rejects.toMatchObject({ fault: "encoding" });
  });
});
