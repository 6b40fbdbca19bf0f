import type { BackOffice, BackOfficeResponse } from "../back-office/back-office.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { type BackOfficeRequest, type OptionValues, type RequestCommand, requestOf } from "./command.ts";
import { presentObject, presentProblem, presentTable } from "./present.ts";

type Json = Readonly<Record<string, unknown>>;

/** Sends the request of a command, or with `--all` one for each page of a list, and shows the response. */
export async function runRequest(
  backOffice: BackOffice,
  output: Output,
  command: RequestCommand,
  id: string | undefined,
  options: OptionValues,
): Promise<ExitCode> {
  const request = requestOf(command, id, options);
  if (command.isFile) {
    const downloaded = await backOffice.download(request, output.write);
    return downloaded.status >= 400 ? reportProblem(output, downloaded, options["json"] === true) : EXIT.done;
  }
  const response =
    options["all"] === true ? await readAll(backOffice, request) : await backOffice.send(request);
  if (response.status >= 400) return reportProblem(output, response, options["json"] === true);
  if (response.isCsv) {
    await output.write(response.text);
    noteNext(output, response);
    return EXIT.done;
  }
  if (options["json"] === true) {
    if (response.text !== "") await output.write(`${response.text}\n`);
    return EXIT.done;
  }
  if (command.columns === undefined) {
    await output.write(response.text === "" ? "Done.\n" : presentObject(response.body));
    return EXIT.done;
  }
  const { data, nextCursor: _, ...others } = response.body;
  // Members of a list about all of it, such as the balances of a statement.
  if (Object.keys(others).length > 0) await output.write(`${presentObject(others)}\n`);
  await output.write(presentTable(data as Json[], command.columns)); // As every list has it.
  noteNext(output, response);
  return EXIT.done;
}

function noteNext(output: Output, { body: { nextCursor = null } }: BackOfficeResponse): void {
  if (nextCursor !== null) output.note(`There are more: --all, or --cursor ${nextCursor}\n`);
}

/** Writes a problem to standard error: as text, or as the problem document. */
export function reportProblem(
  output: Output,
  { status, text, body, hint }: BackOfficeResponse,
  json: boolean,
): ExitCode {
  output.note(json ? `${text}\n` : presentProblem(body));
  if (!json && hint !== undefined) output.note(`${hint}\n`);
  return status === 503 ? EXIT.unavailable : EXIT.failed;
}

/** All pages as one, or the first response that is a problem. */
async function readAll(backOffice: BackOffice, request: BackOfficeRequest): Promise<BackOfficeResponse> {
  const data: unknown[] = [];
  const texts: string[] = [];
  let query: Readonly<Record<string, string>> = { limit: "100", ...request.query };
  for (;;) {
    const response = await backOffice.send({ ...request, query });
    if (response.status >= 400) return response;
    if (response.isCsv) {
      texts.push(texts.length === 0 ? response.text : response.text.replace(/^.*\r\n/, "")); // One header row.
      const { nextCursor } = response.body;
      if (nextCursor === null) return { ...response, text: texts.join("") };
      query = { ...query, cursor: String(nextCursor) };
      continue;
    }
    const page = response.body as { data: unknown[]; nextCursor: string | null }; // As every list has it.
    data.push(...page.data);
    if (page.nextCursor === null) {
      const body = { ...response.body, data, nextCursor: null };
      return { status: 200, text: JSON.stringify(body), body };
    }
    query = { ...query, cursor: page.nextCursor };
  }
}
