import { Readable } from "node:stream";
import { Type } from "typebox";
import type { Initiator } from "../../../audit/initiator.ts";
import { exportWork } from "../../../fulfilment/work-list/export-work.ts";
import type { WorkFilter } from "../../../fulfilment/work-list/work-list-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { validationFailed } from "../../../platform/wire/problems.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { type BackOfficeRoute, route, shownFacilities, warehouse } from "../access.ts";
import { describeWork } from "./describe-work.ts";
import { csvWorkHead, toCsvWorkRows, workFilterFields } from "./work-wire.ts";

export const workExportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list/export",
    operationId: "exportWork",
    admits: warehouse,
    tag: "Work list",
    summary: "Export the orders to pick and ship",
    description:
      "All orders that the filters of the list match, the oldest first, as one file with a row for each line. Each order is in the state in which it is read. The file is sent while the orders are read: if the connection closes before the end of the response, the file is not complete.",
    isList: true,
    query: Type.Object(workFilterFields),
    responses: {
      200: { description: "The orders.", file: [{ mediaType: "text/csv", example: csvWorkHead }] },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const errors = idErrors("fac", "facilityId", query);
      if (errors.length > 0) return validationFailed(errors);
      const facilityIds = shownFacilities(caller, idIn("fac", query.facilityId));
      const filter = { facilityIds, taken: query.taken ?? null };
      return {
        status: 200,
        body: Readable.from(textsOf(context, by, filter)),
        headers: { "content-type": "text/csv; charset=utf-8" },
      };
    },
  }),
];

async function* textsOf(context: Context, by: Initiator, filter: WorkFilter) {
  yield csvWorkHead;
  for await (const items of exportWork(context.db, filter, context.clock.now()))
    yield toCsvWorkRows(await describeWork(context, by, items));
}
