import type { BackOffice, BackOfficeResponse } from "./back-office/back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import { type Output, writeChange } from "./output.ts";
import { done } from "./presentation/outcomes.ts";
import { presentObject } from "./presentation/present.ts";
import { type OptionValues, pathWith, type RequestCommand } from "./requests/command.ts";
import { operationOf } from "./requests/operations.ts";
import { reportProblem, runRequest } from "./requests/run-request.ts";

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
