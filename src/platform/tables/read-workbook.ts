import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { InvalidFileError, type TableRow } from "./decode.ts";
import type { Columns } from "./header.ts";
import type { FromWorker, WorkbookLimits } from "./workbook-worker.ts";

/** A workbook is read as a whole. Larger tables are saved as CSV, which is read as it arrives. */
const WORKBOOK_BYTES_MAX = 16 * 1_048_576;
const WORKBOOK_LIMITS: WorkbookLimits = { unpackedBytesMax: 128 * 1_048_576, cellsMax: 5_000_000 };
/** Of the worker. What a workbook within the limits needs is less. */
const HEAP_MIB_MAX = 768;

const ZIP = Buffer.from("PK\x03\x04");
/** Of an Excel workbook before 2007, and of one with a password. */
const OLE = Buffer.from("d0cf11e0a1b11ae1", "hex");

/** The file beside this one, which a package contains as JavaScript. */
const WORKER = new URL(import.meta.url.replace("read-workbook.", "workbook-worker."));

export const isWorkbook = (head: Buffer): boolean => head.subarray(0, ZIP.length).equals(ZIP);
export const isOldWorkbook = (head: Buffer): boolean => head.subarray(0, OLE.length).equals(OLE);

export type Workbook = { readonly sheet: string; readonly rows: AsyncGenerator<TableRow> };

/** Resolves when the workbook before has been read: one is in memory at a time. */
let turn: Promise<void> = Promise.resolve();

/**
 * Reads the first visible sheet that names columns of a workbook (.xlsx), or else the first with rows, in a thread of its own, whose memory is bounded: its parts are unpacked and
 * parsed as a whole there, and other requests do not wait for it (docs/design/fulfilment.md, "Files of spreadsheets").
 * @throws InvalidFileError
 */
export async function openWorkbook(bytes: AsyncIterable<Buffer>, columns: Columns): Promise<Workbook> {
  const whole = await readWhole(bytes);
  const { promise: done, resolve: leave } = Promise.withResolvers<void>();
  const earlier = turn;
  turn = earlier.then(() => done);
  await earlier;
  const worker = new Worker(WORKER, {
    workerData: { bytes: whole, columns, limits: WORKBOOK_LIMITS },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    execArgv: [],
    env: {},
  });
  const end = async () => {
    leave();
    await worker.terminate();
  };
  try {
    const messages = messagesOf(worker);
    const { value: first } = await messages.next();
    if (first === undefined || !("sheet" in first)) throw new InvalidFileError(1, faultOf(first));
    return { sheet: first.sheet, rows: rowsOf(messages, end) };
  } catch (error) {
    await end();
    throw asFault(error);
  }
}

async function readWhole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > WORKBOOK_BYTES_MAX) throw new InvalidFileError(1, "large_workbook");
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

/** The messages of a worker, each requested when the one before has been taken. */
async function* messagesOf(worker: Worker): AsyncGenerator<FromWorker> {
  worker.postMessage("next");
  for await (const [message] of on(worker, "message", { close: ["exit"] }) as AsyncIterable<[FromWorker]>) {
    yield message;
    worker.postMessage("next");
  }
}

async function* rowsOf(
  messages: AsyncGenerator<FromWorker>,
  end: () => Promise<void>,
): AsyncGenerator<TableRow> {
  try {
    for await (const message of messages) {
      if ("rows" in message) yield* message.rows;
      else if ("ended" in message) {
        if (message.ended !== null) throw new InvalidFileError(1, message.ended);
        return;
      }
    }
    throw new InvalidFileError(1, "not_a_workbook");
  } catch (error) {
    throw asFault(error);
  } finally {
    await end();
  }
}

const faultOf = (message: FromWorker | undefined) =>
  message !== undefined && "ended" in message && message.ended !== null ? message.ended : "not_a_workbook";

const asFault = (error: unknown): unknown =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? new InvalidFileError(1, "large_workbook")
    : error;
