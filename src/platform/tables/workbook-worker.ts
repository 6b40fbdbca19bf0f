import { parentPort, workerData } from "node:worker_threads";
import { inflateRawSync } from "node:zlib";
import { type CellValue, readXlsx, streamXlsxRows } from "hucre/xlsx";
import type { FileFault } from "../wire/rules.ts";
import type { TableRow } from "./decode.ts";
import { type Columns, namesIn, TITLE_ROWS_MAX } from "./header.ts";

/** What the worker sends: the name of the sheet, then rows as they are asked for, then why it ends. */
export type FromWorker =
  | { readonly sheet: string }
  | { readonly rows: TableRow[] }
  | { readonly ended: FileFault | null };

export type WorkbookLimits = {
  /** Of the parts of the workbook together, as they declare it. None becomes larger than it declares. */
  readonly unpackedBytesMax: number;
  readonly cellsMax: number;
};
type WorkbookData = {
  readonly bytes: Uint8Array;
  /** What the sheet is about. */
  readonly columns: Columns;
  readonly limits: WorkbookLimits;
};

/** Rows that are sent at a time. */
const BATCH_SIZE = 500;

const { bytes, columns, limits } = workerData as WorkbookData; // As `read-workbook.ts` gives it.

class Refused extends Error {
  readonly fault: FileFault;
  constructor(fault: FileFault) {
    super(fault);
    this.fault = fault;
  }
}

let requests = 0;
let wake: () => void = () => undefined;
parentPort?.on("message", () => {
  requests += 1;
  wake();
});

/** Sends a message when the reader requests one, so that it holds one batch of rows in memory. */
async function send(message: FromWorker): Promise<void> {
  while (requests === 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    await promise;
  }
  requests -= 1;
  parentPort?.postMessage(message);
}

type Sheet = { readonly name: string; readonly index: number };

/** Those that a person sees. No sheet is read for it. */
async function visibleSheets(): Promise<[Sheet, ...Sheet[]]> {
  const visible: Sheet[] = [];
  await readXlsx(bytes, {
    sheets: ({ name, index, hidden, veryHidden }) => {
      if (!hidden && !veryHidden) visible.push({ name, index });
      return false;
    },
  });
  const [first, ...others] = visible;
  if (first === undefined) throw new Refused("not_a_workbook");
  return [first, ...others];
}

/** Spreadsheets keep and show 15 digits of a number. */
const EXACT_MAX = 999_999_999_999_999;

/**
 * A cell as text. What a spreadsheet has done to an identifier stays visible: a date has a time, and a number whose last digits are
 * lost has an exponent (`damageOf`).
 */
function textOf(value: CellValue): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) > EXACT_MAX) return value.toExponential();
  return String(Number(value.toPrecision(15))); // 0.1 + 0.2 is 0.3, as the spreadsheet shows it.
}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
/** The end of the directory, with the longest comment. */
const END_MAX = 65_557;

/** A part of the workbook, as the directory of the ZIP declares it. */
type Part = {
  readonly name: string;
  readonly isDeflated: boolean;
  readonly packed: number;
  /** Infinite of a part without a size, or with one of 4 GiB and more. */
  readonly unpacked: number;
  readonly position: number;
};

function partsOf(zip: Buffer): Part[] {
  let end = zip.length - 22;
  while (end >= Math.max(0, zip.length - END_MAX) && zip.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0 || zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Refused("not_a_workbook");
  const parts: Part[] = [];
  let position = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (position + 46 > zip.length || zip.readUInt32LE(position) !== DIRECTORY_ENTRY)
      throw new Refused("not_a_workbook");
    const [packed, unpacked] = [zip.readUInt32LE(position + 20), zip.readUInt32LE(position + 24)];
    const [length = 0, extra = 0, comment = 0] = [28, 30, 32].map((at) => zip.readUInt16LE(position + at));
    parts.push({
      name: zip.toString("latin1", position + 46, position + 46 + length),
      isDeflated: zip.readUInt16LE(position + 10) !== 0,
      packed,
      unpacked: unpacked === 0 && packed > 2 ? Number.POSITIVE_INFINITY : unpacked,
      position: zip.readUInt32LE(position + 42),
    });
    position += 46 + length + extra + comment;
  }
  return parts;
}

/** As many zeros as people write. A longer format would make each cell so long. */
const ZEROS = "0{2,30}";
const DECLARED_ZEROS = new RegExp(`formatCode=["']${ZEROS}["']`);
const ZEROS_ALONE = new RegExp(`^${ZEROS}$`);

/** True if a format of numbers consists of zeros. Only then the formats of cells matter. */
function hasFormatOfZeros(zip: Buffer, parts: readonly Part[]): boolean {
  const styles = parts.find(({ name }) => name.endsWith("/styles.xml"));
  if (styles === undefined) return false;
  const { isDeflated, packed, unpacked, position } = styles;
  const begin = position + 30 + zip.readUInt16LE(position + 26) + zip.readUInt16LE(position + 28);
  const content = zip.subarray(begin, begin + packed);
  const xml = isDeflated ? inflateRawSync(content, { maxOutputLength: unpacked + 1 }) : content;
  return DECLARED_ZEROS.test(xml.toString("latin1"));
}

/** Cells by row and column, counted from 0: `4,1`. */
type ShownCells = ReadonlyMap<string, string>;

/**
 * The numbers of a sheet to which a format such as `00000` adds zeros, as a person sees them. Formats are only in what reads the sheet as
 * a whole, so a table that is too large for that is refused: without the zeros, its identifiers would be others.
 */
async function withZeros({ index }: Sheet): Promise<ShownCells> {
  const { sheets } = await readXlsx(bytes, { sheets: [index], readStyles: true }).catch(() => {
    throw new Refused("large_workbook");
  });
  const shown = new Map<string, string>();
  for (const [at, { value, style }] of sheets[0]?.cells ?? [])
    if (Number.isInteger(value) && Number(value) >= 0 && ZEROS_ALONE.test(style?.numFmt ?? ""))
      shown.set(at, textOf(value ?? null).padStart(style?.numFmt?.length ?? 0, "0"));
  return shown;
}

async function readRows(): Promise<void> {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts = partsOf(zip);
  const size = parts.reduce((sum, { unpacked }) => sum + unpacked, 0);
  if (size > limits.unpackedBytesMax) throw new Refused("large_workbook");
  const sheet = await chosenSheet(await visibleSheets());
  await send({ sheet: sheet.name });
  const shown = hasFormatOfZeros(zip, parts) ? await withZeros(sheet) : new Map();
  let rows: TableRow[] = [];
  for await (const row of rowsOf(sheet, shown)) {
    rows.push(row);
    if (rows.length < BATCH_SIZE) continue;
    await send({ rows });
    rows = [];
  }
  await send({ rows });
}

/** The first sheet that names columns: people put a title page before the table. Else the first one that is not empty. */
async function chosenSheet(sheets: readonly [Sheet, ...Sheet[]]): Promise<Sheet> {
  let first: Sheet | null = null;
  for (const sheet of sheets) {
    let count = 0;
    for await (const { cells } of rowsOf(sheet)) {
      if (cells.every((cell) => cell.trim() === "")) continue;
      if (namesIn(cells, columns) > 1) return sheet;
      first ??= sheet;
      count += 1;
      if (count > TITLE_ROWS_MAX) break;
    }
  }
  return first ?? sheets[0];
}

let cellCount = 0;

async function* rowsOf({ index }: Sheet, shown: ShownCells = new Map()): AsyncGenerator<TableRow> {
  for await (const { index: row, values } of streamXlsxRows(bytes, { sheet: index })) {
    cellCount += values.length;
    if (cellCount > limits.cellsMax) throw new Refused("large_workbook");
    yield {
      line: row + 1,
      cells: values.map((value, column) => shown.get(`${row},${column}`) ?? textOf(value)),
    };
  }
}

try {
  await readRows();
  await send({ ended: null });
} catch (error) {
  await send({ ended: error instanceof Refused ? error.fault : "not_a_workbook" });
}
