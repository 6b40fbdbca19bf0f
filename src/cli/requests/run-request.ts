import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Office, OfficeAnswer } from "../office.ts";
import type { Output } from "../output.ts";
import { type OfficeRequest, type OptionValues, type RequestCommand, requestOf } from "./command.ts";
import { presentProblem, presentTable, presentThing } from "./present.ts";

type Json = Readonly<Record<string, unknown>>;

/** Sends the request of a command, or of a list with `--all` as many as it has pages, and shows the answer. */
export async function runRequest(
  office: Office,
  output: Output,
  command: RequestCommand,
  id: string | undefined,
  options: OptionValues,
): Promise<ExitCode> {
  const request = requestOf(command, id, options);
  const answer = options["all"] === true ? await readAll(office, request) : await office.send(request);
  if (answer.status >= 400) return tellProblem(output, answer, options["json"] === true);
  if (options["json"] === true) {
    if (answer.text !== "") await output.write(`${answer.text}\n`);
    return EXIT.done;
  }
  if (command.columns === undefined) {
    await output.write(answer.text === "" ? "Done.\n" : presentThing(answer.body));
    return EXIT.done;
  }
  await output.write(presentTable(answer.body["data"] as Json[], command.columns)); // As every list has it.
  const { nextCursor } = answer.body;
  if (nextCursor !== null) output.note(`There are more: --all, or --cursor ${nextCursor}\n`);
  return EXIT.done;
}

/** A refusal on standard error: in words, or the problem document itself. */
export function tellProblem(output: Output, { status, text, body }: OfficeAnswer, json: boolean): ExitCode {
  output.note(json ? `${text}\n` : presentProblem(body));
  return status === 503 ? EXIT.outOfReach : EXIT.refused;
}

/** All pages as one, or the first answer that is a problem. */
async function readAll(office: Office, request: OfficeRequest): Promise<OfficeAnswer> {
  const data: unknown[] = [];
  let query: Readonly<Record<string, string>> = { limit: "100", ...request.query };
  for (;;) {
    const answer = await office.send({ ...request, query });
    if (answer.status >= 400) return answer;
    const page = answer.body as { data: unknown[]; nextCursor: string | null }; // As every list has it.
    data.push(...page.data);
    if (page.nextCursor === null) {
      const body = { data, nextCursor: null };
      return { status: 200, text: JSON.stringify(body), body };
    }
    query = { ...query, cursor: page.nextCursor };
  }
}
