import type { BackOffice } from "./back-office/back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { idOf, timeOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import type { OptionValues } from "./requests/command.ts";
import { operationOf } from "./requests/operations.ts";
import { reportProblem } from "./requests/run-request.ts";

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
    ...textsOf({ actor: options["actor"], action: options["action"], subjectId: options["subject"] }),
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
