import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { ORDER_STATUSES } from "../lifecycle/order.ts";
import { messageOf } from "../operations/metrics.ts";
import type { BackOffice, BackOfficeResponse } from "./back-office.ts";
import { type OptionValues, operationOf, pathWith, type RequestCommand } from "./commands/command.ts";
import { reportProblem, runRequest } from "./commands/run-request.ts";
import { InvalidValue, time } from "./commands/values.ts";
import { done } from "./outcomes.ts";
import { EXIT, type ExitCode, type Output, UsageError, writeChange } from "./output.ts";
import { type Json, presentError, presentObject } from "./present.ts";

/** `order export`: writes the file while it arrives. */
export async function runExport(
  backOffice: BackOffice,
  output: Output,
  options: OptionValues,
): Promise<ExitCode> {
  const { method, path } = operationOf("exportOrders");
  const response = await backOffice.download(
    { method, path, query: queryOf(options), body: null },
    output.write,
  );
  return response.status >= 400 ? reportProblem(output, response, false) : EXIT.done;
}

function queryOf(options: OptionValues): Record<string, string> {
  const status = ORDER_STATUSES.find((known) => known === options["status"]) ?? null;
  if (options["status"] !== undefined && status === null)
    throw new UsageError(`--status must be one of ${ORDER_STATUSES.join(", ")}.`);
  const filter = {
    merchantId: idOf("mer", "merchant", options),
    connectionId: idOf("con", "connection", options),
    facilityId: idOf("fac", "facility", options),
    since: timeOf("since", options),
    until: timeOf("until", options),
    status,
    format: options["format"] === undefined ? null : String(options["format"]),
  };
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

/** `audit export`: an entry per line, newest first, as the API shows it. Memory holds one page. */
export async function runAuditExport(
  backOffice: BackOffice,
  output: Output,
  options: OptionValues,
): Promise<ExitCode> {
  const merchantId = idOf("mer", "merchant", options);
  const connectionId = idOf("con", "connection", options);
  const [from, to] = [timeOf("from", options), timeOf("to", options)];
  const filter = {
    limit: "100",
    ...(merchantId !== null && { merchantId }),
    ...(connectionId !== null && { connectionId }),
    ...textsOf({
      actor: options["actor"],
      action: options["action"],
      kind: options["kind"],
      subjectId: options["subject"],
    }),
    ...(from !== null && { from }),
    ...(to !== null && { to }),
  };
  const { method, path } = operationOf("listAuditEntries");
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = cursor === "" ? filter : { ...filter, cursor };
    const response = await backOffice.send({ method, path, query, body: null });
    if (response.status >= 400) return reportProblem(output, response, false);
    const page = response.body as { data: unknown[]; nextCursor: string | null }; // As every list has it.
    await output.write(page.data.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    cursor = page.nextCursor;
  }
  return EXIT.done;
}

/** Those that were given. */
const textsOf = (options: OptionValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

export type ExposureVerb = "expose" | "withdraw";

/** As the API takes them in one request. */
const PRODUCTS_MAX = 500;

const ONE: Readonly<Record<ExposureVerb, RequestCommand>> = {
  expose: {
    words: "product expose",
    operationId: "exposeProduct",
    outcome: done("The product is exposed to the connection."),
  },
  withdraw: {
    words: "product withdraw",
    operationId: "withdrawProduct",
    outcome: done("The product is not exposed to the connection."),
  },
};
const MANY = { expose: "exposeProducts", withdraw: "withdrawProducts" } as const;

/** `product expose` and `product withdraw`: one product, a list of them, or all that fit a filter. */
export async function runExposure(
  backOffice: BackOffice,
  output: Output,
  verb: ExposureVerb,
  products: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const filter = filterOf(options);
  if ((filter === null) === (products.length === 0))
    throw new UsageError(
      "Name the products, or choose them by --all, --sku, --search, --status or --exposed-to.",
    );
  const dryRun = options["dryRun"] === true;
  if (products.length === 1 && !dryRun)
    return runRequest(backOffice, output, ONE[verb], products[0], options);
  let changed = 0;
  for await (const response of responsesTo(backOffice, verb, {
    products,
    filter,
    connection: options["connection"],
    dryRun,
  })) {
    if (response.status >= 400) {
      if (changed > 0) output.note(`${changed} products were changed before this:\n`);
      return reportProblem(output, response, options["json"] === true);
    }
    changed += Number(response.body["changed"]);
  }
  const result = { changed };
  const text = options["json"] === true ? `${JSON.stringify(result)}\n` : presentObject(result);
  await (dryRun ? output.write(text) : writeChange(output, text));
  return EXIT.done;
}

/** Null if products are named instead. */
function filterOf({ all, sku, search: q, status, exposedTo: connectionId }: OptionValues): object | null {
  const filter = Object.entries({ sku, q, status, connectionId }).filter(([, value]) => value !== undefined);
  return all === undefined && filter.length === 0 ? null : Object.fromEntries(filter);
}

type Chosen = {
  readonly products: readonly string[];
  readonly filter: object | null;
  readonly connection: unknown;
  /** Nothing is changed, only counted. */
  readonly dryRun: boolean;
};

/** One request for each part of the list, or as many as the filter needs. */
async function* responsesTo(
  backOffice: BackOffice,
  verb: ExposureVerb,
  { products, filter, connection, dryRun }: Chosen,
): AsyncGenerator<BackOfficeResponse> {
  const { method, path } = operationOf(MANY[verb]);
  const at = { method, path: pathWith(path, "id", "connection", String(connection)), query: {} };
  for (let start = 0; start < products.length; start += PRODUCTS_MAX)
    yield backOffice.send({
      ...at,
      body: { productIds: products.slice(start, start + PRODUCTS_MAX), dryRun },
    });
  if (filter === null) return;
  for (let cursor: unknown; cursor !== null; ) {
    const response = await backOffice.send({
      ...at,
      body: { filter, dryRun, ...(cursor !== undefined && { cursor }) },
    });
    yield response;
    cursor = response.body["nextCursor"] ?? null;
  }
}

export type ImportOptions = {
  readonly file: string;
  readonly merchant: string;
  readonly match?: string;
  readonly dryRun?: boolean;
  readonly skipInvalid?: boolean;
  readonly asWritten?: boolean;
  readonly json?: boolean;
};

/** `product import`: sends the file while it is read, through the route that HTTP uses. */
export async function runImport(
  backOffice: BackOffice,
  output: Output,
  input: Readable,
  { file, merchant, match, json = false, ...choices }: ImportOptions,
): Promise<ExitCode> {
  const path = pathWith(operationOf("importProducts").path, "id", "merchant", merchant);
  const { dryRun = false, skipInvalid = false, asWritten = false } = choices;
  const chosen = Object.entries({ dryRun, skipInvalid, asWritten }).filter(([, isChosen]) => isChosen);
  const query = new URLSearchParams({
    ...(match && { match }),
    ...Object.fromEntries(chosen.map(([name]) => [name, "true"])),
  });
  const response = await backOffice.upload(
    query.size === 0 ? path : `${path}?${query}`,
    "text/csv",
    file === "-" ? input : await openFile(file),
  );
  if (response.status >= 400) return reportProblem(output, response, json);
  const { created, changed, unchanged, rejected, rejections, warnings } = response.body; // With --json, all is shown.
  const counts = { created, changed, unchanged, ...(skipInvalid && { rejected }) };
  const text = json ? `${response.text}\n` : presentObject(counts);
  if (!json) {
    noteRows(output, "Left out", rejections);
    noteRows(output, "Perhaps wrong", warnings);
  }
  await (dryRun ? output.write(text) : writeChange(output, text));
  return EXIT.done;
}

function noteRows(output: Output, title: string, errors: unknown): void {
  const rows = errors as readonly Json[]; // Of a response.
  if (rows.length > 0) output.note(`${title}:\n${rows.map((row) => `  - ${presentError(row)}\n`).join("")}`);
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

/** The id that an option names; null without the option. */
function idOf(prefix: "mer" | "con" | "fac", name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  const id = String(options[name]);
  if (!new RegExp(`^${prefix}_\\w{26}$`).test(id))
    throw new UsageError(`--${name} must be an id that begins with ${prefix}_.`);
  return id;
}

/** The time that an option names, as the API takes it; null without the option. */
function timeOf(name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  try {
    return time(String(options[name]));
  } catch (error) {
    if (error instanceof InvalidValue) throw new UsageError(`--${name} ${error.message}`);
    throw error;
  }
}
