import { type Static, Type } from "typebox";
import { importStock, STOCK_ROWS_LISTED_MAX, type StockImported } from "../fulfilment/import-stock.ts";
import { rowErrorsSchema } from "../http/openapi/problems.ts";
import { idErrors, idIn } from "../http/route.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { type TableColumns, writeTable } from "../platform/tables/write-table.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { describedErrors, isProblem, notFound, validationFailed } from "../platform/wire/problems.ts";
import { nullable } from "../platform/wire/schemas.ts";
import { IMPORT_ROWS_MAX } from "../products/import/check-file.ts";
import { listStock } from "../stock/stock-sql.ts";
import { type BackOfficeRoute, route, warehouse } from "./access.ts";
import {
  findingsFields,
  importFields,
  importOptions,
  skipInvalidField,
  TABLE_TEXT,
  tableUpload,
  toWireFindings,
} from "./imported-files.ts";
import { FacilityIdParams, findFacility, tableFiles, tableFormatField } from "./lookups.ts";

const LIMIT_MIB = 256;
const CSV_EXAMPLE = "sku,onHand\nMUG-01,40\n";
const JSON_EXAMPLE = '{"sku":"MUG-01","difference":12,"reason":"received","reference":"delivery-77"}\n';

const EXPORT_EXAMPLE =
  "merchantId,productId,sku,name,barcode,onHand,reserved,available\r\nmer_01m7y7np16fe68bxp4h91tdmdn,019e3f7e-3e2f-7c3d-9a52-0d4f4c1b2a31,MUG-01,Mug,4006381333931,40,2,38\r\n";

const StockImportedSchema = Type.Object(
  {
    changed: Type.Integer({ description: "Number of rows that changed the stock." }),
    unchanged: Type.Integer({
      description: "Number of rows whose stock was so already, or whose adjustment was made before.",
    }),
    rejected: Type.Integer({
      description:
        "Number of rows that the stock forbids, or that are invalid, which were left out. The others were stored.",
    }),
    changes: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: "The line on which the row begins, counted from 1." }),
          productId: Type.String({ format: "uuid", description: "Id of the product." }),
          code: Type.String({ description: "Id, SKU or barcode, as the row names the product." }),
          onHandBefore: nullable(
            Type.Integer(),
            "Units on hand before. Null if the facility had no record of the product.",
          ),
          onHand: Type.Integer({ description: "Units on hand after." }),
        },
        { title: "ImportedStock", description: "A row that changed the stock of its product." },
      ),
      { description: `The rows that changed the stock, at most the first ${STOCK_ROWS_LISTED_MAX}.` },
    ),
    rejections: rowErrorsSchema(
      `The rows that were left out, each with the rule that forbids it, at most the first ${STOCK_ROWS_LISTED_MAX}.`,
    ),
    ...findingsFields,
  },
  { title: "StockImportResult", description: "The result of an import of stock." },
);

const toWire = (imported: StockImported): Static<typeof StockImportedSchema> => ({
  ...imported,
  changes: [...imported.changes],
  rejections: describedErrors(imported.rejections),
  ...toWireFindings(imported),
});

export const stockImportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/facilities/{id}/stock/import",
    operationId: "importStock",
    admits: warehouse,
    tag: "Facilities",
    summary: "Import stock from CSV or JSON",
    description: `${TABLE_TEXT}. Or a JSON object in each line. At most ${IMPORT_ROWS_MAX} rows and ${LIMIT_MIB} MiB. A row names a product by \`productId\`, or else by \`sku\`, or else by \`barcode\`, and beside the last two its merchant by \`merchantId\`. It has \`onHand\`, which is set, or \`difference\` with a \`reason\` and a \`reference\`, and perhaps a \`note\`. A product is in a file once. With an error in the file nothing is stored, unless \`skipInvalid\` is true, and \`errors\` lists each with its line. Else the rows are stored part by part. Those that the stock forbids at that moment are left out and listed as \`rejections\`, such as fewer units than are reserved. The same file again completes an import that broke off: a \`difference\` counts once, and \`onHand\` is set again, also after goods have left since.`,
    params: FacilityIdParams,
    query: Type.Object({
      merchantId: Type.Optional(
        Type.String({ description: "Id of the merchant of all rows that have no `merchantId`." }),
      ),
      ...importFields,
      skipInvalid: skipInvalidField,
    }),
    upload: tableUpload({ limitMiB: LIMIT_MIB, example: CSV_EXAMPLE, jsonLinesExample: JSON_EXAMPLE }),
    responses: {
      200: {
        description: "The valid rows were stored, or, in a dry run, could be.",
        schema: StockImportedSchema,
      },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query, body: bytes, by }, { context, bulk }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { merchantId, skipInvalid = false } = query;
      const file = { bytes, merchantId: idIn("mer", merchantId), skipInvalid, ...importOptions(query) };
      // Two files would set the stock of a facility in turns.
      const imported = await bulk.run("runningImports", caller, facility.id, (importing) =>
        importStock(importing, facility.id, file, by),
      );
      return isProblem(imported) ? imported : { status: 200, body: toWire(imported) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities/{id}/stock/export",
    operationId: "exportStock",
    admits: warehouse,
    isList: true,
    tag: "Facilities",
    summary: "Export a facility's stock",
    description:
      "All stock records of the facility, the oldest product first, with columns of an import: a file in which `onHand` was changed can be imported. An import ignores `name`, `reserved` and `available`.",
    params: FacilityIdParams,
    query: Type.Object({
      merchantId: Type.Optional(Type.String({ description: "Only products of this merchant." })),
      format: tableFormatField,
    }),
    responses: { 200: { description: "The stock.", file: tableFiles(EXPORT_EXAMPLE) } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query }, { context, bulk }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const merchantId = idIn("mer", query.merchantId);
      return bulk.export(caller, null, async ({ db }) =>
        writeTable(query.format ?? "csv", "stock", EXPORTED_STOCK, stockRows(db, facility.id, merchantId)),
      );
    },
  }),
];

const EXPORTED_STOCK: TableColumns = {
  columns: ["merchantId", "productId", "sku", "name", "barcode", "onHand", "reserved", "available"],
  numbers: ["onHand", "reserved", "available"],
};

/** Records in memory at a time. */
const PAGE_SIZE = 500;
const ALL = { sku: null, available: null, availableBelow: null, search: null, updatedSince: null };

async function* stockRows(
  db: Queryable,
  facilityId: string,
  merchantId: string | null,
): AsyncGenerator<unknown[][]> {
  for (let afterId = UUID_MIN; ; ) {
    const position = { list: "export", afterId, limit: PAGE_SIZE };
    const found = await listStock(db, facilityId, { ...ALL, merchantId }, position);
    const stock = found.stock.slice(0, PAGE_SIZE);
    const last = stock.at(-1);
    if (last === undefined) return;
    yield stock.map(({ merchantId, productId, sku, name, barcode, onHand, reserved }) => [
      ...[toTypeId("mer", merchantId), productId, sku, name, barcode ?? ""],
      ...[onHand, reserved, onHand - reserved],
    ]);
    afterId = last.productId;
  }
}
