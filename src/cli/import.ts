import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError, wordsOf } from "./failure.ts";
import type { Office } from "./office.ts";
import type { Output } from "./output.ts";
import { presentThing } from "./requests/present.ts";
import { tellProblem } from "./requests/run-request.ts";

/** `product import`: sends the file as it is read, through the same door as HTTP. */
export async function runImport(
  office: Office,
  output: Output,
  input: Readable,
  { file, merchant, json = false }: { file: string; merchant: string; json?: boolean },
): Promise<ExitCode> {
  const path = `/api/merchants/${encodeURIComponent(merchant)}/products/import`;
  const answer = await office.upload(path, "text/csv", file === "-" ? input : await openFile(file));
  if (answer.status >= 400) return tellProblem(output, answer, json);
  await output.write(json ? `${answer.text}\n` : presentThing(answer.body));
  return EXIT.done;
}

async function openFile(file: string): Promise<Readable> {
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
    await handle.close();
    throw new Error(`${file} is a folder`);
  } catch (error) {
    throw new UsageError(`The file cannot be read: ${wordsOf(error)}.`);
  }
}
