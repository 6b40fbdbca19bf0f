import { CommanderError } from "commander";
import { isProblem, PartnerOrdersError } from "../../sdk/src/index.ts";
import { Ended, EXIT, UsageError } from "./exit.ts";
import { plain } from "./output.ts";
import { createProgram } from "./program.ts";

/** Runs a command line. Every error is printed on standard error and returned as an exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage; // It has printed it.
    const [exitCode, lines] = failureOf(error);
    const isJson = program.opts()["json"] === true || args.includes("--json");
    process.stderr.write(isJson && lines.length > 0 ? `${jsonOf(error, lines)}\n` : lines.join(""));
    return exitCode;
  }
}

function failureOf(error: unknown): [exitCode: number, lines: readonly string[]] {
  const line = (text: string) => `${plain(text)}\n`;
  if (error instanceof Ended) return [error.exitCode, error.message === "" ? [] : [line(error.message)]];
  if (isProblem(error)) {
    const { problem, requestId } = error;
    const errors = "errors" in problem ? problem.errors : [];
    const fields = errors.map(({ pointer, parameter, header, detail }) =>
      line(`  ${pointer ?? parameter ?? header ?? "-"}: ${detail}`),
    );
    const request = requestId === null ? "" : `, request ${requestId}`;
    return [
      EXIT.rejected,
      [line(problem.detail), ...fields, line(`(${problem.status} ${error.code}${request})`)],
    ];
  }
  if (error instanceof PartnerOrdersError)
    return [EXIT.unreachable, [line(`Not reachable: ${error.message}`)]];
  // The SDK throws it for a call that is wrong, before anything is sent.
  if (error instanceof UsageError || error instanceof TypeError) return [EXIT.usage, [line(error.message)]];
  return [EXIT.rejected, [line(error instanceof Error ? error.message : String(error))]];
}

const jsonOf = (error: unknown, lines: readonly string[]): string =>
  JSON.stringify(
    isProblem(error)
      ? { ...error.problem, requestId: error.requestId }
      : { code: null, detail: lines.join("").trim() },
  );
