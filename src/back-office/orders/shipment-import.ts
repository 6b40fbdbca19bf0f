import { type Static, Type } from "typebox";
import {
  importTracking,
  PARCELS_LISTED_MAX,
  type RejectedParcel,
  TRACKING_ROWS_MAX,
  type TrackingImported,
} from "../../fulfilment/import-tracking.ts";
import { rowErrorsSchema } from "../../http/openapi/problems.ts";
import { idErrors, idIn } from "../../http/route.ts";
import { toTypeId } from "../../platform/ids.ts";
import { isProblem, validationFailed } from "../../platform/wire/problems.ts";
import { enumeration, flagField, idField, nullable } from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import {
  findingsFields,
  importFields,
  importOptions,
  TABLE_TEXT,
  tableUpload,
  toWireFindings,
} from "../imported-files.ts";
import { REFUSAL_FIELDS, refusalOf } from "./ship-many.ts";

const LIMIT_MIB = 16;
const CSV_EXAMPLE = "externalOrderId,carrier,trackingNumber\nPO-1001,DHL,00340434161094042557\n";
const JSON_EXAMPLE =
  '{"orderId":"ord_01m7y7np16fe68bxp4h91tdmdn","carrier":"UPS","trackingNumber":"1Z999AA10123456784"}\n';

const RejectionSchema = Type.Object(
  {
    line: Type.Integer({ description: "The line on which the parcel begins, counted from 1." }),
    order: Type.String({
      description: "The order as the file names it: the external id, or else an id of the service.",
    }),
    ...REFUSAL_FIELDS,
    errors: rowErrorsSchema("Of `validation-failed`: the errors of its rows. Empty for other codes."),
  },
  { title: "ParcelRejection", description: "Why a parcel was left out." },
);

const ShipmentsImportedSchema = Type.Object(
  {
    shipped: Type.Integer({ description: "Number of parcels with which their orders shipped." }),
    updated: Type.Integer({
      description: "Number of parcels whose shipment got its tracking, or other tracking.",
    }),
    unchanged: Type.Integer({ description: "Number of parcels that were recorded already." }),
    rejected: Type.Integer({ description: "Number of parcels that were left out. The others were stored." }),
    untracked: Type.Integer({
      description: "With `onlyTracked`: number of rows that were left out because they have no parcel.",
    }),
    parcels: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: "The line on which the parcel begins, counted from 1." }),
          change: enumeration(
            "ParcelChange",
            ["shipped", "updated"],
            "`shipped`: the parcel is a new shipment. `updated`: its shipment was there already.",
          ),
          orderId: idField("ord", "Id of the order."),
          externalOrderId: nullable(Type.String(), "The partner's id of the order. Null if it has none."),
          trackingNumber: nullable(
            Type.String(),
            "The tracking number as it is stored. Null if the parcel has none.",
          ),
          shipmentId: nullable(
            Type.String(),
            "Id of the shipment. Null only for one that a dry run would create.",
          ),
        },
        { title: "ImportedParcel", description: "A parcel that was stored." },
      ),
      { description: `The parcels that were stored, at most the first ${PARCELS_LISTED_MAX}.` },
    ),
    rejections: Type.Array(RejectionSchema, {
      description: `The parcels that were left out, each with the reason, at most the first ${PARCELS_LISTED_MAX}.`,
    }),
    ...findingsFields,
  },
  { title: "ShipmentImportResult", description: "The result of an import of shipments." },
);

function toWireRejection({ line, order, problem }: RejectedParcel): Static<typeof RejectionSchema> {
  const { errors, ...refusal } = refusalOf(problem);
  const rowErrors = errors as unknown as Static<typeof RejectionSchema>["errors"]; // Those of a file have a line.
  const said = rowErrors.map(({ column, detail }) => (column === undefined ? detail : `${column} ${detail}`));
  return {
    line,
    order,
    ...refusal,
    ...(said.length > 0 && { detail: `${said.join("; ")}.` }),
    errors: rowErrors,
  };
}

const toWire = ({
  parcels,
  rejections,
  recognised,
  warnings,
  ...counts
}: TrackingImported): Static<typeof ShipmentsImportedSchema> => ({
  ...counts,
  parcels: parcels.map(({ orderId, shipmentId, ...parcel }) => ({
    ...parcel,
    orderId: toTypeId("ord", orderId),
    shipmentId: shipmentId === null ? null : toTypeId("shp", shipmentId),
  })),
  rejections: rejections.map(toWireRejection),
  ...toWireFindings({ recognised, warnings }),
});

export const shipmentImportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/shipments/import",
    operationId: "importShipments",
    admits: warehouse,
    tag: "Orders",
    summary: "Import shipments with their tracking from CSV or JSON",
    description: `${TABLE_TEXT}. Or a JSON object in each line. At most ${TRACKING_ROWS_MAX} rows and ${LIMIT_MIB} MiB. A row is a parcel that has left. It names its order by \`orderId\`, or by the partner's \`externalOrderId\`, beside which \`connectionId\` may be needed; and has a \`trackingNumber\`, and perhaps \`carrier\`, \`trackingUrl\` and \`weightGrams\`. All lines of the order that have not shipped ship with it, as \`POST /api/orders/{id}/ship\` does. If they have shipped without a tracking number, their shipment gets it; a row can also name a shipment by \`shipmentId\`. A parcel with some of the goods has \`sku\` and perhaps \`quantity\`, in rows one after the other that repeat all else. With an error in the file nothing is stored, and \`errors\` lists each with its line. Else the parcels are stored one after the other. Those that cannot be are left out and listed as \`rejections\`, such as that of an order on hold, or one whose number is on a parcel of another order (\`repeatedTrackingNumber\` stores it). A parcel whose order has a shipment with its tracking number is recorded already: so the same file again changes nothing further, and completes an import that broke off.`,
    query: Type.Object({
      connectionId: Type.Optional(
        Type.String({ description: "Id of the connection of all external ids without a `connectionId`." }),
      ),
      repeatedTrackingNumber: flagField(
        "True: tracking numbers that are on other parcels are meant, such as of orders that were packed together. Default: false.",
      ),
      onlyTracked: flagField(
        "True: rows without `trackingNumber`, `carrier`, `trackingUrl` and `weightGrams` are left out and counted as `untracked`, such as those that were not filled in of `GET /api/work-list/export?rows=parcels`. Default: false: they are errors.",
      ),
      ...importFields,
    }),
    upload: tableUpload({ limitMiB: LIMIT_MIB, example: CSV_EXAMPLE, jsonLinesExample: JSON_EXAMPLE }),
    responses: {
      200: {
        description: "The parcels were stored or left out, or, in a dry run, would be.",
        schema: ShipmentsImportedSchema,
      },
    },
    problems: ["limit-reached", "validation-failed"],
    handle: async ({ caller, query, body: bytes, by }, { bulk }) => {
      const errors = idErrors("con", "connectionId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { repeatedTrackingNumber = false, onlyTracked = false } = query;
      const connectionId = idIn("con", query.connectionId);
      const file = { bytes, connectionId, repeatedTrackingNumber, onlyTracked, ...importOptions(query) };
      const staff = { ...caller, by };
      const imported = await bulk.run("runningImports", caller, caller.id ?? "operator", (importing) =>
        importTracking(importing, staff, file),
      );
      return isProblem(imported) ? imported : { status: 200, body: toWire(imported) };
    },
  }),
];
