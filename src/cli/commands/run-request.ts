import type { BackOffice, BackOfficeResponse } from "../back-office.ts";
import { changedMembers } from "../outcomes.ts";
import { EXIT, type ExitCode, type Output, UsageError, writeChange } from "../output.ts";
import { presentObject, presentProblem, presentTable, presentText } from "../present.ts";
import {
  argumentOf,
  type BackOfficeRequest,
  checkId,
  type OptionValues,
  operationOf,
  ReadValue,
  type RequestCommand,
  requestOf,
  resourcesInPath,
} from "./command.ts";

type Json = Readonly<Record<string, unknown>>;

/** Sends the request of a command, or with `--all` one for each page of a list, and shows the response. */
export async function runRequest(
  backOffice: BackOffice,
  output: Output,
  command: RequestCommand,
  id: string | undefined,
  options: OptionValues,
): Promise<ExitCode> {
  const json = options["json"] === true;
  const named = await withOrderIds(backOffice, command, { id, options });
  if ("problem" in named) return reportProblem(output, named.problem, json);
  const file = fileOf(command, options);
  if (file !== null) return writeFile(backOffice, output, requestOf(file, named.id, named.options), json);
  const request = requestOf(command, named.id, named.options);
  const response =
    options["all"] === true ? await readAll(backOffice, request) : await backOffice.send(request);
  if (response.status >= 400) return reportProblem(output, response, json);
  const advice = command.secret?.ifLost(String(response.body["id"]));
  const write = (text: string) =>
    request.method === "GET" ? output.write(text) : writeChange(output, text, advice);
  if (json && !response.isCsv) {
    if (response.text !== "") await write(`${response.text}\n`);
  } else {
    await write(shownOf(command, request, response));
    noteNext(output, response);
  }
  if (command.secret !== undefined) output.note(`${command.secret.note}\n`);
  return EXIT.done;
}

/** The command whose response is a file, if the command line asks for one. */
function fileOf(command: RequestCommand, options: OptionValues): RequestCommand | null {
  if (operationOf(command.operationId).isFile) return command;
  const { csvOperationId } = command;
  return csvOperationId === undefined || options["format"] !== "csv"
    ? null
    : { ...command, operationId: csvOperationId };
}

export async function writeFile(
  backOffice: BackOffice,
  output: Output,
  request: BackOfficeRequest,
  json: boolean,
): Promise<ExitCode> {
  const response = await backOffice.download(request, output.write);
  return response.status >= 400 ? reportProblem(output, response, json) : EXIT.done;
}

/** A response as people read it. */
function shownOf(
  { columns, outcome }: RequestCommand,
  request: BackOfficeRequest,
  { text, body, isCsv }: BackOfficeResponse,
): string {
  if (isCsv) return text;
  if (outcome !== undefined) return outcome(body, request.body ?? {});
  if (text === "") return "Done.\n";
  if (columns === undefined)
    return request.method === "PATCH" ? changedMembers(body, request.body ?? {}) : presentObject(body);
  const { data, nextCursor: _, ...others } = body;
  // Members of a list about all of it, such as the balances of a statement.
  const summary = Object.keys(others).length === 0 ? "" : `${presentObject(others)}\n`;
  return summary + presentTable(data as Json[], columns); // As every list has it.
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
export async function readAll(
  backOffice: BackOffice,
  request: BackOfficeRequest,
): Promise<BackOfficeResponse> {
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

/** What a command line names, with ids of the service in the place of partners' own. */
type Named = { readonly id: string | undefined; readonly options: OptionValues };

/** Looks up the orders that a command line names by the partner's own id. Returns a problem if a look-up is rejected. */
async function withOrderIds(
  backOffice: BackOffice,
  command: RequestCommand,
  { id, options }: Named,
): Promise<Named | { readonly problem: BackOfficeResponse }> {
  const named = options["connection"];
  const connection = named === undefined ? null : String(named instanceof ReadValue ? named.value : named);
  const resolved: Record<string, unknown> = { ...options };
  let orderId = id;
  // A path that names the connection takes the partner's own id as well.
  const isLookedUp = argumentOf(command) === "order" && !resourcesInPath(command).includes("connection");
  if (id !== undefined && isLookedUp) {
    const found = await findOrderId(backOffice, id, connection);
    if (typeof found !== "string") return { problem: found };
    orderId = found;
  }
  const order = options["order"];
  if (order instanceof ReadValue && !resourcesInPath(command).includes("connection")) {
    const found = await findOrderId(backOffice, String(order.value), connection);
    if (typeof found !== "string") return { problem: found };
    resolved["order"] = new ReadValue(found);
  }
  return { id: orderId, options: resolved };
}

/** An id that the service has made. A partner's own id may begin in the same way, but hardly looks like this. */
const SERVICE_ID = /^(ord|test)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** One can choose from no more than fit on a screen. */
const SHOWN_MAX = 20;

/** @throws UsageError if it cannot be an id, or if several orders have the partner's own id */
async function findOrderId(
  backOffice: BackOffice,
  named: string,
  connectionId: string | null,
): Promise<string | BackOfficeResponse> {
  checkId("order", named);
  if (SERVICE_ID.test(named)) return named;
  const { method, path } = operationOf("findOrders");
  const query = {
    externalOrderId: named,
    limit: String(SHOWN_MAX),
    ...(connectionId !== null && { connectionId }),
  };
  const response = await backOffice.send({ method, path, query, body: null });
  if (response.status >= 400) return response;
  const found = response.body["data"] as Json[]; // As every list has it.
  const [first, second] = found;
  if (first === undefined) return named; // The service reports that there is no such order.
  if (second === undefined) return String(first["id"]);
  throw new UsageError(
    `Several orders have the id ${presentText(named)}: add --connection, or give the id of one.\n` +
      presentTable(found, ["id", "connectionId", "connectionName", "merchantName", "createdAt"]).trimEnd(),
  );
}
