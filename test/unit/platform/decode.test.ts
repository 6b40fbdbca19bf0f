import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, type Encoding, encodingOf } from "../../../src/platform/tables/decode.ts";

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
