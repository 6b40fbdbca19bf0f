import { Readable } from "node:stream";
import type { Context } from "../../../platform/context.ts";
import { isProblem, type Problem, problemDocument } from "../../../platform/wire/problems.ts";
import type { Imported, OnStored } from "../../../products/import/import-products.ts";
import { problemOf } from "../../http/replies.ts";

export const PROGRESS_TYPE = "application/x-ndjson";

/**
 * Runs an import, and reports as lines of JSON how many rows are stored (decision 0123). The response begins when all rows
 * are valid: until then, problems have their status. The last line has the result, or the problem that stopped it.
 * @param path of the request, for the problem
 */
export async function importWithProgress(
  context: Context,
  path: string,
  run: (onStored: OnStored) => Promise<Imported | Problem>,
) {
  // The lines are as many as batches, so they wait in memory for a slow client, and the transaction does not.
  const lines = new Readable({ read: () => undefined });
  const write = (line: object) => void lines.push(`${JSON.stringify(line)}\n`);
  const begun = Promise.withResolvers<"begun">();
  const imported = run((stored, total) => {
    write({ stored, total });
    begun.resolve("begun");
  });
  const first = await Promise.race([begun.promise, imported]);
  if (first !== "begun") return isProblem(first) ? first : { status: 200 as const, body: first };
  const document = (problem: Problem) => problemDocument(problem, context.config.errorsBaseUrl, path);
  imported
    .then((result) => write(isProblem(result) ? { problem: document(result) } : { result }))
    .catch((error: Parameters<typeof problemOf>[0]) => {
      const { problem, logged } = problemOf(error);
      if (logged) context.log.error({ err: error, path }, "import failed while rows were stored");
      write({ problem: document(problem) });
    })
    .finally(() => lines.push(null));
  return { status: 200 as const, body: lines, headers: { "content-type": PROGRESS_TYPE } };
}
