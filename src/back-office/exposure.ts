import { type Static, Type } from "typebox";
import type { Initiator } from "../audit/record-audit.ts";
import { idErrors, idIn } from "../http/route.ts";
import { keyOf } from "../merchants/connection.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { bytesOf, parseUuid } from "../platform/ids.ts";
import { encodeCursor, pagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import {
  isProblem,
  notFound,
  type Problem,
  type ValidationError,
  validationFailed,
} from "../platform/wire/problems.ts";
import { describedAs, flagField, nullable, searchField, toSearched } from "../platform/wire/schemas.ts";
import {
  changeExposure,
  changeExposureOfNext,
  EXPOSURE_PRODUCTS_MAX,
  type ExposureChange,
  previewExposure,
  previewExposureOfNext,
} from "../products/exposure.ts";
import { ProductStatusSchema } from "../products/product.ts";
import { listOwnProducts } from "../products/products-sql.ts";
import { type BackOfficeRoute, merchantSide, route } from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";

const FilterSchema = Type.Object(
  {
    sku: Type.Optional(
      Type.String({ maxLength: 255, format: "text", description: "Only products with this SKU." }),
    ),
    status: Type.Optional(
      describedAs(
        ProductStatusSchema,
        "Only products with this status. Default: to expose, `active`; to withdraw, any.",
      ),
    ),
    q: searchField("A part of the SKU or of the name. Case, accents and apostrophes are ignored."),
    connectionId: Type.Optional(
      Type.String({
        maxLength: 255,
        format: "text",
        description:
          "Only products that are exposed to this connection, such as that of another partner, or with `exposed: false` are not.",
      }),
    ),
    exposed: flagField(
      "True: only products that are exposed. False: only those that are not. To the `connectionId` beside it, or without it to any connection. Default: true with `connectionId`.",
    ),
  },
  // A filter with another name would choose the whole catalog (docs/design/api-conventions.md, "Unknown fields").
  {
    title: "ExposureFilter",
    description: "Which products. Absent fields restrict nothing else, and unknown ones are rejected.",
    additionalProperties: false,
  },
);

const ExposureSchema = Type.Object(
  {
    productIds: Type.Optional(
      Type.Array(Type.String({ maxLength: 255, format: "text", description: "Id of a product." }), {
        minItems: 1,
        maxItems: EXPOSURE_PRODUCTS_MAX,
        description: "The products. Either this or `filter` is required.",
      }),
    ),
    filter: Type.Optional(
      describedAs(
        FilterSchema,
        "All products of the merchant that fit, `{}` for all. Either this or `productIds` is required.",
      ),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        format: "text",
        description: "With `filter`: `nextCursor` of the previous response. Opaque: do not parse it.",
      }),
    ),
    dryRun: flagField("True: change nothing, and return how many products would change. Default: false."),
  },
  { title: "ExposureRequest", description: "Products to expose to a connection, or to withdraw." },
);
type ExposureBody = Static<typeof ExposureSchema>;

const ExposureResultSchema = Type.Object(
  {
    changed: Type.Integer({
      description:
        "Number of products that this request exposed, or withdrew, or with `dryRun` would. The others were so already.",
    }),
    nextCursor: nullable(
      Type.String(),
      `With \`filter\`: \`cursor\` of the next request, because one changes at most ${EXPOSURE_PRODUCTS_MAX} products, fewer if the connection has very many endpoints, and reads at most ${ROWS_READ_MAX}. Null if all are done.`,
    ),
  },
  { title: "ExposureResult", description: "The result of a change of exposure." },
);

const row = {
  method: "POST",
  admits: merchantSide,
  tag: "Products",
  params: ConnectionIdParams,
  body: ExposureSchema,
  responses: {
    200: { description: "The products are exposed, or withdrawn.", schema: ExposureResultSchema },
  },
  problems: ["not-found", "limit-reached", "validation-failed"],
} as const;

const DESCRIPTION =
  "The products are stored in batches of up to 100, fewer if the connection has many endpoints, each whole or not at all. Repeating the request has no further effect, so a retry is safe. If one of `productIds` is not a product of the merchant, nothing changes.";

export const exposureRoutes: readonly BackOfficeRoute[] = [
  route({
    ...row,
    path: "/api/connections/{id}/products/expose",
    operationId: "exposeProducts",
    summary: "Expose many products to a connection",
    description: `Publishes \`product.published\` once for each product that was not exposed before. ${DESCRIPTION}`,
    handle: async ({ caller, params, body, by }, { context, bulk }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const key = keyOf(connection);
      return bulk.run("runningExposures", caller, key.merchantId, async (context) =>
        toResponse(await change(context, key, "expose", body, by)),
      );
    },
  }),
  route({
    ...row,
    path: "/api/connections/{id}/products/withdraw",
    operationId: "withdrawProducts",
    summary: "Withdraw many products from a connection",
    description: `Existing orders do not change. ${DESCRIPTION}`,
    handle: async ({ caller, params, body, by }, { context, bulk }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const key = keyOf(connection);
      return bulk.run("runningExposures", caller, key.merchantId, async (context) =>
        toResponse(await change(context, key, "withdraw", body, by)),
      );
    },
  }),
];

type Result = Static<typeof ExposureResultSchema>;

const toResponse = (result: Result | Problem) => (isProblem(result) ? result : { status: 200, body: result });

async function change(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  { productIds, filter, cursor, dryRun = false }: ExposureBody,
  by: Initiator,
): Promise<Result | Problem> {
  if (filter !== undefined && productIds === undefined)
    return changeFitting(context, key, change, { filter, cursor, dryRun }, by);
  if (filter !== undefined || productIds === undefined)
    return validationFailed([{ pointer: "/productIds", rule: "either", field: "filter" }]);
  if (cursor !== undefined)
    return validationFailed([{ pointer: "/cursor", rule: "only_with", field: "filter" }]);
  const ids = productIds.map(parseUuid);
  const errors = await foreignIds(context, key, ids);
  if (errors.length > 0) return validationFailed(errors);
  const own = [...new Set(ids.filter((id) => id !== null))].sort();
  const changed = dryRun
    ? await previewExposure(context, key, change, own)
    : await changeExposure(context, key, change, own, by);
  return { changed, nextCursor: null };
}

type FittingRequest = {
  readonly filter: NonNullable<ExposureBody["filter"]>;
  readonly cursor: string | undefined;
  readonly dryRun: boolean;
};

async function changeFitting(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  { filter: requested, cursor, dryRun }: FittingRequest,
  by: Initiator,
): Promise<Result | Problem> {
  const { sku = null, status = change === "expose" ? "active" : null, q } = requested;
  if (idErrors("con", "connectionId", requested).length > 0)
    return validationFailed([{ pointer: "/filter/connectionId", rule: "id_prefix", prefix: "con_" }]);
  const connectionId = idIn("con", requested.connectionId);
  const isExposed = requested.exposed ?? (connectionId === null ? null : true);
  const filter = { sku, status, text: toSearched(q), isExposed, connectionId };
  // A cursor of another request is not valid: it would skip products.
  const list = JSON.stringify([change, key.connectionId, filter, dryRun]);
  const position = pagePosition(list, cursor === undefined ? {} : { cursor });
  if (isProblem(position)) return validationFailed([{ pointer: "/cursor", rule: "cursor" }]);
  const search = { filter, afterId: position.afterId };
  const { changed, continueAfterId } = dryRun
    ? await previewExposureOfNext(context, key, change, search)
    : await changeExposureOfNext(context, key, change, search, by);
  return {
    changed,
    nextCursor: continueAfterId === null ? null : encodeCursor(list, bytesOf(continueAfterId)),
  };
}

/** An error for each id that is not a product of the merchant. */
async function foreignIds(
  { db }: Context,
  { merchantId }: ConnectionKey,
  ids: readonly (string | null)[],
): Promise<ValidationError[]> {
  const requested = ids.filter((id) => id !== null);
  const own = new Set(await listOwnProducts(db, merchantId, requested));
  return ids.flatMap((id, index) =>
    id !== null && own.has(id)
      ? []
      : [{ pointer: `/productIds/${index}`, rule: "not_found", kind: "merchant_product" }],
  );
}
