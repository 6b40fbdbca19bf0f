import { Type } from "typebox";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { IMPORT_ROWS_MAX } from "../../../products/import/check-file.ts";
import { importProducts } from "../../../products/import/import-products.ts";
import { type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";

const LIMIT_BYTES = 256 * 1_048_576;
const EXAMPLE = "sku,name,price,weightGrams\nMUG-01,Mug,7.90,380\n";

const ImportedSchema = Type.Object(
  {
    created: Type.Integer({ description: "Number of products that were created." }),
    changed: Type.Integer({ description: "Number of products that were updated." }),
  },
  { title: "ImportResult", description: "The result of an import." },
);

export const importRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants/{id}/products/import",
    operationId: "importProducts",
    admits: merchantSide,
    tag: "Products",
    summary: "Import products from CSV",
    description: `UTF-8, at most ${IMPORT_ROWS_MAX} rows and 256 MiB. The first row names the columns: \`sku\`, \`name\`, \`price\` (a decimal amount in the merchant's currency), and any of \`weightGrams\`, \`description\`, \`imageUrl\`, \`status\`, \`id\`. If the file has the column \`id\`, a row with an \`id\` changes that product, and a row without one creates a product. All rows are imported, or none: then \`errors\` lists each error with its line.`,
    params: MerchantIdParams,
    upload: { mediaType: "text/csv", limitBytes: LIMIT_BYTES, example: EXAMPLE },
    responses: { 200: { description: "All rows were imported.", schema: ImportedSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const imported = await importProducts(context, merchant, body, by);
      return isProblem(imported) ? imported : { status: 200, body: imported };
    },
  }),
];
