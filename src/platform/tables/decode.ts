import { isAscii, isUtf8 } from "node:buffer";
import type { FileFault } from "../wire/rules.ts";

/** A row, and the line on which it begins; the first line is 1. Of a workbook, the number of the row. */
export type TableRow = {
  readonly line: number;
  readonly cells: readonly string[];
  /** No line break ends it, so the file may have been cut off within it. */
  readonly isUnended?: true;
};

/** From the row that begins on this line, the file cannot be read. */
export class InvalidFileError extends Error {
  readonly line: number;
  readonly fault: FileFault;
  constructor(line: number, fault: FileFault) {
    super(fault);
    this.fault = fault;
    this.line = line;
  }
}

/** The encodings in which spreadsheets save text. */
export const ENCODINGS = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "windows-1252",
  "iso-8859-15",
  "macintosh",
] as const;
export type Encoding = (typeof ENCODINGS)[number];
/** Those that have one byte for each letter, the most frequent first. */
const OF_BYTES = ["windows-1252", "iso-8859-15", "macintosh"] as const;

/** The bytes of a file, of which the sender may have said that they are Windows-1252. */
export type FileBytes = AsyncIterable<Buffer> & { readonly declared?: "windows-1252" };

const UTF_8_MARK = Buffer.from("\uFEFF");

/**
 * The encoding that the first bytes of a file show. Bytes that are no UTF-8 can still follow. What the sender says counts where they
 * show nothing.
 */
export function encodingOf(head: Buffer, declared: Encoding = "utf-8"): Encoding {
  const [first, second] = head;
  if (head.subarray(0, UTF_8_MARK.length).equals(UTF_8_MARK)) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  // A file begins with the name of a column, or with a brace: with ASCII.
  if (first === 0 && second !== 0) return "utf-16be";
  return second === 0 && first !== 0 ? "utf-16le" : declared;
}

const BYTE_ORDER_MARK = "\uFEFF";
/** Bytes that an encoding does not define become these. */
const UNDEFINED = /[\u0080-\u009f]/;

const MISREAD = [
  /[\ufffd¤]/, // No letter, and the sign of all currencies, whose byte is the euro sign of ISO 8859-15.
  /Ã[\u00a0-¿Œ-ŸˆžŽ˜–-€]|Â[\u00a0-¿]|â€|â‚¬/, // UTF-8 that was read as Windows-1252.
  /\p{L}[ŠŸŽ]\p{Ll}/u, // A capital within a word: ä, ü and é of a Mac.
  /\p{L}[†‡‰ˆ˜‹›¢£¥¦§¨ª¬¯¶¸º»¼½¾¿€„“”]\p{Ll}/u, // A sign within a word.
];
/** True for a text whose letters are probably of another encoding, such as `GrÃ¶ÃŸe` or `Grš§e`. */
export const isMisread = (text: string): boolean => MISREAD.some((sign) => sign.test(text));

/** Letters within words, and signs that no text of Western Europe has. */
const WORDS_OF_MAC = /[a-z][à-öø-üß]|[À-ÖØ-öø-ü][a-z]/;
const RARE_IN_MAC = /[·¸ˆ-˝Ωπ∂-≥◊\uf8ffﬁﬂ]/;

/**
 * The encoding of text that is not UTF-8: Windows-1252, unless its words would be wrong, and are right in another one. Null if
 * no encoding has letters for all bytes.
 */
function byteEncodingOf(part: Buffer): (typeof OF_BYTES)[number] | null {
  const textIn = (encoding: Encoding) => new TextDecoder(encoding).decode(part);
  const fits = OF_BYTES.find((encoding) => {
    const text = textIn(encoding);
    const isOfMac = encoding !== "macintosh" || (WORDS_OF_MAC.test(text) && !RARE_IN_MAC.test(text));
    return isOfMac && !UNDEFINED.test(text) && !isMisread(text);
  });
  return fits ?? (UNDEFINED.test(textIn("windows-1252")) ? null : "windows-1252");
}

/**
 * Decodes text as it arrives, without its byte order mark (docs/design/fulfilment.md, "Files of spreadsheets"). What is not
 * UTF-8 has one byte for each letter, if all before it was ASCII, which is the same in both. Otherwise letters would be wrong
 * without an error.
 * @param found is called when the encoding turns out not to be UTF-8
 * @throws InvalidFileError if it is in none of the encodings
 */
export async function* decode(
  bytes: AsyncIterable<Buffer>,
  encoding: Encoding,
  found: (encoding: Encoding) => void,
): AsyncGenerator<string> {
  let line = 1;
  let isFirst = true;
  const decoder = encoding.startsWith("utf-16") ? utf16Decoder(encoding) : byteDecoder(encoding, found);
  const take = (read: () => string): string => {
    const text = textOf(read, line);
    line += text.split("\n").length - 1;
    const whole = isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    if (text !== "") isFirst = false;
    return whole;
  };
  for await (const chunk of bytes) yield take(() => decoder.read(chunk));
  yield take(() => decoder.end());
}

/** @throws InvalidFileError */
function textOf(read: () => string, line: number): string {
  try {
    return read();
  } catch {
    throw new InvalidFileError(line, "encoding");
  }
}

type Decoder = { read(chunk: Buffer): string; end(): string };

function utf16Decoder(encoding: Encoding): Decoder {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return { read: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
}

/** UTF-8 until bytes follow that are none, or an encoding of bytes. */
function byteDecoder(encoding: Encoding, found: (encoding: Encoding) => void): Decoder {
  let rest = Buffer.alloc(0);
  let isAllAscii = true;
  let ofBytes: InstanceType<typeof TextDecoder> | null =
    encoding === "utf-8" ? null : new TextDecoder(encoding);
  const read = (part: Buffer): string => {
    if (ofBytes === null && isUtf8(part)) {
      isAllAscii &&= isAscii(part);
      return part.toString();
    }
    if (ofBytes === null) {
      const encoding = isAllAscii && !hasCharacters(part) ? byteEncodingOf(part) : null;
      if (encoding === null) throw new Error("No encoding fits.");
      found(encoding);
      ofBytes = new TextDecoder(encoding);
    }
    const text = ofBytes.decode(part);
    if (UNDEFINED.test(text)) throw new Error("The encoding has no such letters.");
    return text;
  };
  return {
    read: (chunk) => {
      const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = ofBytes === null ? endOfCharacters(whole) : whole.length;
      rest = Buffer.from(whole.subarray(end));
      return read(whole.subarray(0, end));
    },
    end: () => read(rest),
  };
}

/** A part that is not UTF-8 has characters of several bytes that are. */
const hasCharacters = (part: Buffer): boolean => /[^\0-\x7f\ufffd]/.test(part.toString());

/** Where the last character ends, if the bytes after it can be the beginning of one. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
