import { isAscii, isUtf8 } from "node:buffer";
import type { FileFault } from "../wire/rules.ts";

/** A row, and the line on which it begins; the first line is 1. Of a workbook, the number of the row. */
export type TableRow = { readonly line: number; readonly cells: readonly string[] };

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
export const ENCODINGS = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export type Encoding = (typeof ENCODINGS)[number];

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
/** Bytes that Windows-1252 does not define become these. */
const UNDEFINED = /[\u0080-\u009f]/;

/**
 * Decodes text as it arrives, without its byte order mark (docs/design/fulfilment.md, "Files of spreadsheets"). What is not
 * UTF-8 is Windows-1252, if all before it was ASCII, which is the same in both. Otherwise letters would be wrong without an error.
 * @param found is called when the encoding turns out to be Windows-1252
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

/** UTF-8 until bytes follow that are none, or Windows-1252. */
function byteDecoder(encoding: Encoding, found: (encoding: Encoding) => void): Decoder {
  const windows = new TextDecoder("windows-1252");
  let rest = Buffer.alloc(0);
  let isAllAscii = true;
  let isWindows = encoding === "windows-1252";
  const read = (part: Buffer): string => {
    if (!isWindows && isUtf8(part)) {
      isAllAscii &&= isAscii(part);
      return part.toString();
    }
    if (!isAllAscii || (!isWindows && hasCharacters(part))) throw new Error("Neither encoding fits.");
    if (!isWindows) found("windows-1252");
    isWindows = true;
    const text = windows.decode(part);
    if (UNDEFINED.test(text)) throw new Error("Windows-1252 has no such letters.");
    return text;
  };
  return {
    read: (chunk) => {
      const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = isWindows ? whole.length : endOfCharacters(whole);
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
