import { enumeration } from "../../platform/wire/schemas.ts";

/** The forms of the files that are exported. */
export const ExportFormatSchema = enumeration(
  "ExportFormat",
  ["csv", "ndjson"],
  "`csv`: a table that is safe to open in a spreadsheet. `ndjson`: one JSON object per line.",
);
