import { Type } from "typebox";
import { type Facility, readFacility } from "../fulfilment/facilities-sql.ts";
import { type Connection, keyOf } from "../merchants/connection.ts";
import { findConnectionById } from "../merchants/connections-sql.ts";
import { type Merchant, readMerchant } from "../merchants/merchants-sql.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, parseUuid } from "../platform/ids.ts";
import { TABLE_FILE_FORMATS, WORKBOOK_TYPE } from "../platform/tables/write-table.ts";
import { parseTime } from "../platform/time.ts";
import type { ValidationError } from "../platform/wire/problems.ts";
import { describedAs, enumeration } from "../platform/wire/schemas.ts";
import type { Product } from "../products/product.ts";
import { findProductById } from "../products/products-sql.ts";
import { type BackOfficeCaller, maySee, maySeeConnection, maySeeFacility } from "./access.ts";
import { valueAt } from "./money/amounts.ts";

// Look up the resources that paths of the back office name. They return null both for a missing resource and for one
// that the caller may not see, so that the responses are the same.

export const MerchantIdParams = Type.Object({ id: Type.String({ description: "Id of the merchant." }) });
export const ConnectionIdParams = Type.Object({ id: Type.String({ description: "Id of the connection." }) });
export const ProductIdParams = Type.Object({ id: Type.String({ description: "Id of the product." }) });
export const FacilityIdParams = Type.Object({ id: Type.String({ description: "Id of the facility." }) });

export async function findMerchant(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<Merchant | null> {
  const id = seenMerchantId(caller, text);
  return id === null ? null : readMerchant(db, id);
}

/** The id of a merchant that the caller may see, if there is one. */
export function seenMerchantId(caller: BackOfficeCaller, text: string): string | null {
  const id = fromTypeId("mer", text);
  return id === null || !maySee(caller, id) ? null : id;
}

export async function findConnection(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<Connection | null> {
  const id = fromTypeId("con", text);
  const connection = id === null ? null : await findConnectionById(db, id);
  return connection !== null && maySeeConnection(caller, keyOf(connection)) ? connection : null;
}

export async function findProduct(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<Product | null> {
  const id = parseUuid(text);
  const product = id === null ? null : await findProductById(db, id);
  return product !== null && maySee(caller, product.merchantId) ? product : null;
}

export async function findFacility(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<Facility | null> {
  const id = fromTypeId("fac", text);
  return id === null || !maySeeFacility(caller, id) ? null : readFacility(db, id);
}

/** The error of `expiresAt` in a body, if it is a time that a key or a token cannot expire at. */
export function expiryErrors(body: unknown, { clock }: Context): ValidationError[] {
  const expiresAt = valueAt(body, "/expiresAt");
  if (typeof expiresAt !== "string") return []; // Absent or null, or an error of the schema.
  return parseTime(expiresAt) > clock.now() ? [] : [{ pointer: "/expiresAt", rule: "future" }];
}

const FORM_TEXTS =
  "`csv`: a table for programs, with texts as they are. `spreadsheet`: CSV that a spreadsheet opens: with a byte order mark, and an apostrophe before texts that it would run as formulas. `xlsx`: a workbook, whose identifiers are text.";

/** The forms of every table that is exported. */
const TableFormatSchema = enumeration("TableFileFormat", TABLE_FILE_FORMATS, FORM_TEXTS);
export const tableFormatField = Type.Optional(
  describedAs(TableFormatSchema, "Form of the file. Default: `csv`."),
);

/** The forms of files that are more than a table. */
export const ExportFormatSchema = enumeration(
  "ExportFormat",
  [...TABLE_FILE_FORMATS, "ndjson"],
  `${FORM_TEXTS} \`ndjson\`: one JSON object per line.`,
);

/** The media types of a table, for a description. @param example CSV */
export const tableFiles = (example: string) => [
  { mediaType: "text/csv", example },
  { mediaType: WORKBOOK_TYPE, example: "the bytes of a workbook" },
];
