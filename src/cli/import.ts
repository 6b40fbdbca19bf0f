import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { messageOf } from "../monitoring/error-message.ts";
import type { BackOffice } from "./back-office/back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import { type Output, writeChange } from "./output.ts";
import { presentObject } from "./presentation/present.ts";
import { pathWith } from "./requests/command.ts";
import { operationOf } from "./requests/operations.ts";
import { reportProblem } from "./requests/run-request.ts";

export type ImportOptions = {
  readonly file: string;
  readonly merchant: string;
  readonly match?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

/** `product import`: sends the file while it is read, through the route that HTTP uses. */
export async function runImport(
  backOffice: BackOffice,
  output: Output,
  input: Readable,
  { file, merchant, match, dryRun = false, json = false }: ImportOptions,
): Promise<ExitCode> {
  const path = pathWith(operationOf("importProducts").path, "id", "merchant", merchant);
  const query = new URLSearchParams({ ...(match && { match }), ...(dryRun && { dryRun: "true" }) });
  const response = await backOffice.upload(
    query.size === 0 ? path : `${path}?${query}`,
    "text/csv",
    file === "-" ? input : await openFile(file),
  );
  if (response.status >= 400) return reportProblem(output, response, json);
  const { products: _, ...counts } = response.body; // With --json, the products are shown.
  const text = json ? `${response.text}\n` : presentObject(counts);
  await (dryRun ? output.write(text) : writeChange(output, text));
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
