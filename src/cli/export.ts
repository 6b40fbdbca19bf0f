import { recordAudit } from "../audit/record-audit.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { ORDER_STATUSES } from "../lifecycle/order.ts";
import { csvFormat, ndjsonFormat } from "../orders/export/export-format.ts";
import { type ExportFilter, exportOrders, isExportable } from "../orders/export/export-orders.ts";
import type { Context } from "../platform/context.ts";
import type { BackOffice } from "./back-office.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import { idOf, timeOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import type { OptionValues } from "./requests/command.ts";

/** `order export`: writes each page as it is read, so that memory holds one page. */
export async function runExport(
  { context, operator }: Pick<BackOffice, "context" | "operator">,
  output: Output,
  options: OptionValues,
): Promise<ExitCode> {
  const filter = filterOf(options);
  if (!(await isExportable(context, filter))) {
    output.note("Resource not found: No such merchant, or no such connection of it.\n");
    return EXIT.failed;
  }
  await recordExport(context, operator, filter);
  const format = options["format"] === "ndjson" ? ndjsonFormat : csvFormat;
  await output.write(format.head);
  for await (const exported of exportOrders(context, filter)) await output.write(format.write(exported));
  return EXIT.done;
}

/** An export reads addresses of buyers: one entry before the first of them is written (decision 0070). */
async function recordExport(context: Context, actor: Actor, filter: ExportFilter): Promise<void> {
  const { merchantId, connectionId, since, until, status } = filter;
  const [subject, id] =
    connectionId === null ? (["mer", merchantId] as const) : (["con", connectionId] as const);
  const by = { actor, requestId: null, action: "exportOrders" };
  await recordAudit(context.db, context, by, {
    merchantId,
    connectionId,
    subject,
    ids: id === null ? [] : [id],
    details: { since: since ?? undefined, until: until ?? undefined, status: status ?? undefined },
  });
}

function filterOf(options: OptionValues): ExportFilter {
  const status = ORDER_STATUSES.find((known) => known === options["status"]) ?? null;
  if (options["status"] !== undefined && status === null)
    throw new UsageError(`--status must be one of ${ORDER_STATUSES.join(", ")}.`);
  return {
    merchantId: idOf("mer", "merchant", options),
    connectionId: idOf("con", "connection", options),
    since: timeOf("since", options),
    until: timeOf("until", options),
    status,
  };
}
