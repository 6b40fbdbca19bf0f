import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { rowErrorsSchema } from "../http/openapi/problems.ts";
import { problemOf } from "../http/replies.ts";
import { readMerchant } from "../merchants/merchants-sql.ts";
import type { Context } from "../platform/context.ts";
import { formatMoney } from "../platform/money.ts";
import { writeTable } from "../platform/tables/write-table.ts";
import {
  describedErrors,
  isProblem,
  notFound,
  type Problem,
  problemDocument,
} from "../platform/wire/problems.ts";
import { describedAs, enumeration, flagField, MoneySchema, nullable } from "../platform/wire/schemas.ts";
import { IMPORT_MATCHES, IMPORT_ROWS_MAX } from "../products/import/check-file.ts";
import { EXPORTED_PRODUCTS, exportProducts } from "../products/import/export-products.ts";
import {
  IMPORT_CHANGES,
  IMPORTED_LISTED_MAX,
  type Imported,
  importProducts,
  type OnStored,
} from "../products/import/import-products.ts";
import { type BackOfficeRoute, everyone, merchantSide, route } from "./access.ts";
import {
  findingsFields,
  importFields,
  importOptions,
  skipInvalidField,
  TABLE_TEXT,
  tableUpload,
  toWireFindings,
} from "./imported-files.ts";
import { findMerchant, MerchantIdParams, seenMerchantId, tableFiles, tableFormatField } from "./lookups.ts";

const PROGRESS_TYPE = "application/x-ndjson";

/**
 * Runs an import, and reports as lines of JSON how many rows are stored (docs/design/fulfilment.md, "Imports of a catalog").
 * The response begins when all rows are valid: until then, problems have their status. The last line has the result, or the
 * problem that stopped it.
 * @param path of the request, for the problem
 */
async function importWithProgress(
  context: Context,
  path: string,
  run: (onStored: OnStored) => Promise<Imported | Problem>,
) {
  // The lines are as many as batches, so they wait in memory for a slow client, and the transaction does not.
  const lines = new Readable({ read: () => undefined });
  const write = (line: object) => void lines.push(`${JSON.stringify(line)}\n`);
  const begun = Promise.withResolvers<"begun">();
  const imported = run((stored, total) => {
    write({ stored, total });
    begun.resolve("begun");
  });
  const first = await Promise.race([begun.promise, imported]);
  if (first !== "begun") return isProblem(first) ? first : { status: 200 as const, body: toWire(first) };
  const document = (problem: Problem) => problemDocument(problem, context.config.errorsBaseUrl, path);
  imported
    .then((result) => write(isProblem(result) ? { problem: document(result) } : { result: toWire(result) }))
    .catch((error: Parameters<typeof problemOf>[0]) => {
      const { problem, logged } = problemOf(error);
      if (logged) context.log.error({ err: error, path }, "import failed while rows were stored");
      write({ problem: document(problem) });
    })
    .finally(() => lines.push(null));
  return { status: 200 as const, body: lines, headers: { "content-type": PROGRESS_TYPE } };
}

const LIMIT_MIB = 256;
const EXPORT_EXAMPLE =
  "id,sku,name,price,weightGrams,description,imageUrl,status,barcode,lowStockBelow\r\n019e3f7e-3e2f-7c3d-9a52-0d4f4c1b2a31,MUG-01,Mug,7.90,380,,,active,4006381333931,20\r\n";
const PROGRESS_EXAMPLE =
  '{"stored":0,"total":2}\n{"stored":2,"total":2}\n{"result":{"created":2,"changed":0,"unchanged":0}}\n';
const EXAMPLE = "sku,name,price,weightGrams\nMUG-01,Mug,7.90,380\n";

const ImportedSchema = Type.Object(
  {
    created: Type.Integer({ description: "Number of products that were created." }),
    changed: Type.Integer({ description: "Number of products that were updated." }),
    unchanged: Type.Integer({ description: "Number of products that were as their rows already." }),
    rejected: Type.Integer({
      description: "With `skipInvalid`: number of rows that were left out because they have errors.",
    }),
    rejections: rowErrorsSchema(
      "With `skipInvalid`: the errors of the rows that were left out, at most the first 1000.",
    ),
    products: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: "The line on which the row begins, counted from 1." }),
          id: nullable(
            Type.String({ format: "uuid" }),
            "Id of the product. Null only for a product that a dry run would create.",
          ),
          sku: Type.String({ description: "SKU of the row." }),
          name: Type.String({ description: "Name of the row." }),
          price: describedAs(MoneySchema, "Price of the row."),
          change: enumeration(
            "ImportChange",
            IMPORT_CHANGES,
            "`created`, `changed`, or `unchanged`: the product was as the row already.",
          ),
          columns: Type.Array(Type.String(), {
            description: "Names of the columns that change. Empty if the product is new or unchanged.",
          }),
          before: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
            description:
              "What the product had in the columns that change, as an export writes it. Null: nothing. A description is cut to 200 characters.",
          }),
        },
        { title: "ImportedProduct", description: "A row and its product." },
      ),
      {
        description: `The products in the order of the file, at most the first ${IMPORTED_LISTED_MAX}. An export contains all.`,
      },
    ),
    ...findingsFields,
  },
  { title: "ImportResult", description: "The result of an import." },
);

const toWire = ({
  products,
  rejections,
  recognised,
  warnings,
  ...counts
}: Imported): Static<typeof ImportedSchema> => ({
  ...counts,
  products: products.map(({ price, before, ...product }) => ({
    ...product,
    price: formatMoney(price),
    columns: Object.keys(before),
    before: { ...before },
  })),
  rejections: describedErrors(rejections),
  ...toWireFindings({ recognised, warnings }),
});

export const importRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants/{id}/products/import",
    operationId: "importProducts",
    admits: merchantSide,
    tag: "Products",
    summary: "Import products from CSV",
    description: `${TABLE_TEXT}. At most ${IMPORT_ROWS_MAX} rows and ${LIMIT_MIB} MiB. The columns are \`sku\`, \`name\`, \`price\` (a decimal amount in the merchant's currency), and any of \`weightGrams\`, \`barcode\`, \`lowStockBelow\`, \`description\`, \`imageUrl\`, \`status\`, \`id\`. A row with an \`id\` changes that product; \`match\` decides about the others. All rows are imported, or, unless \`skipInvalid\` is true, none: then \`errors\` lists each error with its line. With \`dryRun=true\` nothing is stored, and the response says what an import would do.`,
    params: MerchantIdParams,
    query: Type.Object({
      match: Type.Optional(
        describedAs(
          enumeration(
            "ImportMatch",
            IMPORT_MATCHES,
            "How a row without an `id` finds its product. `id`: it creates one, and is an error if the merchant has a product with its SKU. `sku`: it changes the product with its SKU, or creates one; an error if several have it. `none`: it creates one, even if the SKU exists. Default: `id`.",
          ),
          "How a row without an `id` finds its product. Default: `id`.",
        ),
      ),
      ...importFields,
      skipInvalid: skipInvalidField,
      progress: flagField(
        "True: while the rows are stored, the response is lines of JSON that say how many are: `stored` of `total`. The last line has the `result`, or the `problem` that stopped it: then nothing is stored. Default: false.",
      ),
    }),
    upload: tableUpload({ limitMiB: LIMIT_MIB, example: EXAMPLE }),
    responses: {
      200: {
        description:
          "All rows were imported, or, in a dry run, could be. With `progress`, the last line says it.",
        schema: ImportedSchema,
        file: { mediaType: PROGRESS_TYPE, example: PROGRESS_EXAMPLE },
      },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query, body: bytes, by }, { context, bulk }) => {
      const merchantId = seenMerchantId(caller, params.id);
      if (merchantId === null) return notFound("merchant");
      const { match = "id", skipInvalid = false, progress = false } = query;
      const file = { bytes, match, skipInvalid, ...importOptions(query) };
      const importAll = (onStored?: OnStored) =>
        bulk.run("runningImports", caller, merchantId, async (importing) => {
          const merchant = await readMerchant(importing.db, merchantId);
          if (merchant === null) return notFound("merchant");
          return importProducts(importing, merchant, { ...file, ...(onStored && { onStored }) }, by);
        });
      if (progress)
        return importWithProgress(context, `/api/merchants/${params.id}/products/import`, importAll);
      const imported = await importAll();
      return isProblem(imported) ? imported : { status: 200, body: toWire(imported) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/products/export",
    operationId: "exportProducts",
    admits: everyone,
    isList: true,
    tag: "Products",
    summary: "Export products",
    description:
      "All products of the merchant, oldest first, with the columns of an import. An exported file can be changed and imported again, also with a spreadsheet: as `xlsx`, every identifier stays as it is.",
    params: MerchantIdParams,
    query: Type.Object({ format: tableFormatField }),
    responses: {
      200: { description: "The products.", file: tableFiles(EXPORT_EXAMPLE) },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query: { format = "csv" } }, { context, bulk }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      return bulk.export(caller, merchant.id, async ({ db }) =>
        writeTable(format, "products", EXPORTED_PRODUCTS, exportProducts(db, merchant.id)),
      );
    },
  }),
];
