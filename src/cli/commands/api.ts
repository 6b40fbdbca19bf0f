import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { messageOf } from "../../operations/metrics.ts";
import type { BackOffice } from "../back-office.ts";
import { EXIT, type ExitCode, type Output, UsageError, writeChange } from "../output.ts";
import { presentTable } from "../present.ts";
import {
  allOperations,
  checkId,
  type Field,
  type Operation,
  type OptionValues,
  partsOf,
  ReadValue,
} from "./command.ts";
import { readAll, reportProblem, writeFile } from "./run-request.ts";

/** `api --list`: every operation with its request. */
export const listOperations = (): string =>
  presentTable(
    [...allOperations().values()].map(({ operationId, method, path, summary }) => ({
      operation: operationId,
      request: `${method} ${path}`,
      summary,
    })),
    ["operation", "request", "summary"],
  );

/**
 * `api <operation> --field value`: any request of the back office. The response is written as the API sends it.
 * @param input what is read if the file of `--json` or `--file` is `-`
 */
export async function runApi(
  backOffice: BackOffice,
  output: Output,
  input: Readable,
  operation: Operation,
  options: OptionValues,
): Promise<ExitCode> {
  const { method, path, fields, takesJson, takesFile, isFile } = operation;
  const given = fields.flatMap((field): [Field, unknown][] => {
    const value = options[field.name];
    return value instanceof ReadValue ? [[field, value.value]] : [];
  });
  const filled = given.reduce((filled, [field, value]) => {
    if (field.in !== "path") return filled;
    checkId(field.name, String(value));
    return filled.replace(`{${field.name}}`, encodeURIComponent(String(value)));
  }, path);
  const whole = typeof options["json"] === "string" ? await readJson(options["json"], input) : {};
  const { query, body } = partsOf(
    given.filter(([field]) => field.in !== "path"),
    whole,
  );
  const request = { method, path: filled, query, body: takesJson ? body : null };
  if (isFile && takesFile === null) return writeFile(backOffice, output, request, true);
  const response =
    takesFile !== null
      ? await backOffice.upload(withQuery(filled, query), takesFile, fileOf(options["file"], input))
      : options["all"] === true
        ? await readAll(backOffice, request)
        : await backOffice.send(request);
  if (response.status >= 400) return reportProblem(output, response, true);
  const written = response.isCsv || response.text === "" ? response.text : `${response.text}\n`;
  await (method === "GET" ? output.write(written) : writeChange(output, written));
  return EXIT.done;
}

const withQuery = (path: string, query: Readonly<Record<string, string>>): string =>
  Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query)}`;

async function readJson(file: string, input: Readable): Promise<Record<string, unknown>> {
  let body: unknown;
  try {
    body = JSON.parse(file === "-" ? await text(input) : await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--json cannot be read: ${messageOf(error)}.`);
  }
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return { ...body };
  throw new UsageError("--json must be a file with a JSON object.");
}

function fileOf(file: unknown, input: Readable): Readable {
  if (typeof file !== "string")
    throw new UsageError("--file must name the file to send; - is standard input.");
  return file === "-" ? input : createReadStream(file);
}
