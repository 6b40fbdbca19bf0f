import { toWireAuditEntry } from "../api/back-office/audit/audit-wire.ts";
import { auditRange } from "../audit/audit-range.ts";
import { type AuditFilter, listAuditEntries } from "../audit/audit-sql.ts";
import type { Context } from "../platform/context.ts";
import { UUID_MAX } from "../platform/wire/cursor.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { idOf, timeOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import type { OptionValues } from "./requests/command.ts";

/** Entries read at a time; memory holds no more of them. */
const PAGE_SIZE = 500;

/** `audit export`: an entry per line, newest first, as the API shows it. */
export async function runAuditExport(
  { db }: Context,
  output: Output,
  options: OptionValues,
): Promise<ExitCode> {
  const merchantId = idOf("mer", "merchant", options);
  const filter: AuditFilter = { merchantId, connectionId: null, actor: null, action: null, subjectId: null };
  const times = {
    from: timeOf("since", options)?.toISOString(),
    to: timeOf("until", options)?.toISOString(),
  };
  for (let beforeId: string | null = UUID_MAX; beforeId !== null; ) {
    const range = auditRange({ afterId: beforeId, limit: PAGE_SIZE }, times);
    const { entries, continueBeforeId } = await listAuditEntries(db, filter, range);
    await output.write(entries.map((entry) => `${JSON.stringify(toWireAuditEntry(entry))}\n`).join(""));
    beforeId = continueBeforeId;
  }
  return EXIT.done;
}
