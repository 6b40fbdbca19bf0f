import { type Static, Type } from "typebox";
import { rowErrorsSchema } from "../http/openapi/problems.ts";
import type { Upload } from "../http/upload.ts";
import { ENCODINGS } from "../platform/tables/decode.ts";
import type { FileFindings } from "../platform/tables/import-file.ts";
import { SEPARATORS } from "../platform/tables/read-csv.ts";
import { TABLE_FORMATS } from "../platform/tables/read-table.ts";
import { describedErrors } from "../platform/wire/problems.ts";
import { enumeration, flagField, nullable } from "../platform/wire/schemas.ts";

// What all imports of files have in common (docs/design/fulfilment.md, "Files of spreadsheets").

type TableUpload = {
  readonly limitMiB: number;
  readonly example: string;
  /** JSON lines are read too. */
  readonly jsonLinesExample?: string;
};

/** A table as a spreadsheet or a program saves it. */
export const tableUpload = ({ limitMiB, ...examples }: TableUpload) =>
  ({ mediaType: "text/csv", limitBytes: limitMiB * 1_048_576, workbook: true, ...examples }) satisfies Upload;

/** How every import describes its file. */
export const TABLE_TEXT =
  "CSV whose first row names the columns, or the first sheet of a workbook that has them (.xlsx, at most 16 MiB). Separator, decimal comma and encoding of CSV are recognised; a `charset` of Content-Type (utf-8, utf-16, windows-1252 or iso-8859-1) counts";

/** Parameters of every import. */
export const importFields = {
  dryRun: flagField("True: only check the file, and return what an import would do. Default: false."),
  asWritten: flagField(
    "True: identifiers that look as if a spreadsheet has damaged them are imported as they are written. Default: false: they are errors.",
  ),
};
type ImportQuery = { dryRun?: boolean | undefined; asWritten?: boolean | undefined };

export const importOptions = ({ dryRun = false, asWritten = false }: ImportQuery) => ({ dryRun, asWritten });

export const skipInvalidField = flagField(
  "True: rows with errors are left out and listed as `rejections`, and the others are imported. Default: false: nothing is imported.",
);

const RecognisedSchema = Type.Object(
  {
    format: enumeration(
      "TableFormat",
      TABLE_FORMATS,
      "`csv`: text with separators. `json-lines`: a JSON object in each line. `xlsx`: a workbook.",
    ),
    encoding: nullable(
      enumeration(
        "TableEncoding",
        ENCODINGS,
        "`utf-8`, `utf-16le` or `utf-16be`: Unicode. `windows-1252`: what spreadsheets of Western Europe save without asking. `iso-8859-15`, `macintosh`: the same of Unix, and of a Mac.",
      ),
      "The encoding. Null of a workbook.",
    ),
    separator: nullable(
      enumeration("TableSeparator", SEPARATORS, "`comma`, `semicolon`, `tab` or `pipe`, a vertical bar."),
      "What stands between the cells. Null if it is not CSV.",
    ),
    decimalSeparator: enumeration(
      "DecimalSeparator",
      ["point", "comma"],
      "What stands before decimals: `point` or `comma`. `point` if no number has any.",
    ),
    sheet: nullable(Type.String(), "Name of the sheet that was read. Null if it is no workbook."),
  },
  { title: "RecognisedTable", description: "What was recognised in the file." },
);

/** Fields of every result of an import. */
export const findingsFields = {
  recognised: RecognisedSchema,
  warnings: rowErrorsSchema(
    "Rows that may be wrong and are imported all the same, such as a barcode with a wrong check digit; at most the first 1000.",
  ),
};

const Findings = Type.Object(findingsFields);
export const toWireFindings = ({ recognised, warnings }: FileFindings): Static<typeof Findings> => ({
  recognised: { ...recognised },
  warnings: describedErrors(warnings),
});
