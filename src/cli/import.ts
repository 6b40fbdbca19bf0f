import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { BackOffice } from "./back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { messageOf, UsageError } from "./failure.ts";
import type { Output } from "./output.ts";
import { routeOf } from "./requests/operations.ts";
import { presentObject } from "./requests/present.ts";
import { reportProblem } from "./requests/run-request.ts";

/** `product import`: sends the file while it is read, through the route that HTTP uses. */
export async function runImport(
  backOffice: BackOffice,
  output: Output,
  input: Readable,
  { file, merchant, json = false }: { file: string; merchant: string; json?: boolean },
): Promise<ExitCode> {
  const path = routeOf("importProducts").path.replace("{id}", encodeURIComponent(merchant));
  const response = await backOffice.upload(path, "text/csv", file === "-" ? input : await openFile(file));
  if (response.status >= 400) return reportProblem(output, response, json);
  await output.write(json ? `${response.text}\n` : presentObject(response.body));
  return EXIT.done;
}

async function openFile(file: string): Promise<Readable> {
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
    await handle.close();
    throw new Error(`${file} is a folder`);
  } catch (error) {
    throw new UsageError(`The file cannot be read: ${messageOf(error)}.`);
  }
}
