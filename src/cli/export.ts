import { ORDER_STATUSES } from "../lifecycle/order.ts";
import type { BackOffice } from "./back-office/back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import { idOf, timeOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import type { OptionValues } from "./requests/command.ts";
import { operationOf } from "./requests/operations.ts";
import { reportProblem } from "./requests/run-request.ts";

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
    since: timeOf("since", options),
    until: timeOf("until", options),
    status,
    format: options["format"] === undefined ? null : String(options["format"]),
  };
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}
