import { type Static, Type } from "typebox";
import { createFacility } from "../../../fulfilment/facilities/create-facility.ts";
import { listFacilities, renameFacility } from "../../../fulfilment/facilities/facilities-sql.ts";
import type { Facility } from "../../../fulfilment/facilities/facility.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { cursorField, dateTime, limitField, pageOf, shortText } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import { FacilityIdParams, findFacility } from "../lookups.ts";

const FacilitySchema = Type.Object(
  {
    id: Type.String({ examples: ["fac_01m7y7np16fe68bxp4h91tdmdn"] }),
    name: Type.String(),
    countryCode: Type.String({ description: "Two upper-case letters." }),
    createdAt: dateTime(),
  },
  { title: "Facility" },
);

const toWireFacility = (facility: Facility): Static<typeof FacilitySchema> => ({
  id: toTypeId("fac", facility.id),
  name: facility.name,
  countryCode: facility.countryCode,
  createdAt: facility.createdAt.toISOString(),
});

export const facilityRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/facilities",
    operationId: "createFacility",
    admits: warehouse,
    tag: "Facilities",
    summary: "Create a facility",
    description:
      "The first facility turns routing on: from then on an accepted order needs a facility with stock and with a rate for it.",
    body: Type.Object(
      { name: shortText(), countryCode: Type.String({ format: "country-code" }) },
      { title: "FacilityRequest" },
    ),
    answers: { 201: { description: "The facility was created.", schema: FacilitySchema } },
    problems: ["validation-failed"],
    handle: async ({ body: { name, countryCode } }, { context }) => {
      const facility = await createFacility(context, { name, countryCode: countryCode.toUpperCase() });
      return { status: 201, body: toWireFacility(facility) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities",
    operationId: "listFacilities",
    admits: warehouse,
    tag: "Facilities",
    summary: "List facilities",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      countryCode: Type.Optional(
        Type.String({ format: "country-code", description: "Only in this country." }),
      ),
    }),
    answers: {
      200: { description: "A page, oldest first.", schema: pageOf(FacilitySchema, "FacilityPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ query }, { context }) => {
      const position = pagePosition("facilities", query);
      if (isProblem(position)) return position;
      const facilities = await listFacilities(context.db, query.countryCode?.toUpperCase() ?? null, position);
      return { status: 200, body: toPage(facilities, position, toWireFacility) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities/{id}",
    operationId: "getFacility",
    admits: warehouse,
    tag: "Facilities",
    summary: "Get a facility",
    params: FacilityIdParams,
    answers: { 200: { description: "The facility.", schema: FacilitySchema } },
    problems: ["not-found"],
    handle: async ({ params }, { context }) => {
      const facility = await findFacility(context, params.id);
      return facility === null ? notFound("facility") : { status: 200, body: toWireFacility(facility) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/facilities/{id}",
    operationId: "updateFacility",
    admits: warehouse,
    tag: "Facilities",
    summary: "Rename a facility",
    params: FacilityIdParams,
    body: Type.Object({ name: Type.Optional(shortText()) }, { title: "FacilityUpdate" }),
    answers: { 200: { description: "The changed facility.", schema: FacilitySchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ params, body: { name } }, { context }) => {
      const facility = await findFacility(context, params.id);
      if (facility === null) return notFound("facility");
      const changed = name === undefined ? facility : await renameFacility(context.db, facility.id, name);
      return changed === null ? notFound("facility") : { status: 200, body: toWireFacility(changed) };
    },
  }),
];
