import { ORDER_STATUSES } from "../lifecycle/order.ts";
import { csvFormat, ndjsonFormat } from "../orders/export/export-format.ts";
import { type ExportFilter, exportOrders, isExportable } from "../orders/export/export-orders.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, type IdPrefix } from "../platform/ids.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import type { Output } from "./output.ts";
import type { OptionValues } from "./requests/command.ts";

/** `order export`: writes each page as it is read, so that memory holds one page. */
export async function runExport(context: Context, output: Output, options: OptionValues): Promise<ExitCode> {
  const filter = filterOf(options);
  if (!(await isExportable(context, filter))) {
    output.note("Resource not found: No such merchant, or no such connection of it.\n");
    return EXIT.failed;
  }
  const format = options["format"] === "ndjson" ? ndjsonFormat : csvFormat;
  await output.write(format.head);
  for await (const exported of exportOrders(context, filter)) await output.write(format.write(exported));
  return EXIT.done;
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

function idOf(prefix: IdPrefix, name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  const id = fromTypeId(prefix, String(options[name]));
  if (id === null) throw new UsageError(`--${name} must be an id that begins with ${prefix}_.`);
  return id;
}

/** Days begin at midnight UTC. A time without a zone would depend on the machine. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

function timeOf(name: string, options: OptionValues): Date | null {
  if (options[name] === undefined) return null;
  const text = String(options[name]);
  const time = new Date(text);
  if (!TIME.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError(
      `--${name} must be a day, or a time with its zone: 2026-01-31, 2026-01-31T12:00:00Z.`,
    );
  return time;
}
