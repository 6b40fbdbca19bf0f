import { type Static, Type } from "typebox";
import { closeFacility } from "../../../fulfilment/facilities/close-facility.ts";
import { createFacility } from "../../../fulfilment/facilities/create-facility.ts";
import { listFacilities } from "../../../fulfilment/facilities/facilities-sql.ts";
import type { Facility } from "../../../fulfilment/facilities/facility.ts";
import { renameFacility } from "../../../fulfilment/facilities/rename-facility.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { forbidden, isProblem, notFound } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  flagField,
  idField,
  limitField,
  nullableTime,
  pageOf,
  shortText,
} from "../../../platform/wire/schemas.ts";
import { andMonitoring, type BackOfficeRoute, facilitiesOf, route, warehouse } from "../access.ts";
import { FacilityIdParams, findFacility } from "../lookups.ts";

const NAME_TEXT = "Name of the facility.";
const COUNTRY_TEXT = "ISO 3166-1 country code of two letters.";

const FacilitySchema = Type.Object(
  {
    id: idField("fac", "Id of the facility, set by the service."),
    name: Type.String({ description: NAME_TEXT }),
    countryCode: Type.String({ description: `${COUNTRY_TEXT} Always in upper case.`, examples: ["DE"] }),
    createdAt: dateTime("When the facility was created."),
    closedAt: nullableTime("When the facility was closed: no order is routed to it. Null while it is open."),
  },
  { title: "Facility", description: "A place that orders are shipped from. The warehouse changes it." },
);

const toWireFacility = (facility: Facility): Static<typeof FacilitySchema> => ({
  id: toTypeId("fac", facility.id),
  name: facility.name,
  countryCode: facility.countryCode,
  createdAt: facility.createdAt.toISOString(),
  closedAt: facility.closedAt?.toISOString() ?? null,
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
      "Staff of named facilities cannot create one. The first facility turns routing on: from then on an accepted order needs a facility with stock and with a rate for it.",
    body: Type.Object(
      {
        name: shortText(NAME_TEXT),
        countryCode: Type.String({
          format: "country-code",
          description: `${COUNTRY_TEXT} In upper or lower case.`,
        }),
      },
      { title: "FacilityRequest", description: "A new facility." },
    ),
    responses: { 201: { description: "The facility was created.", schema: FacilitySchema } },
    problems: ["forbidden", "validation-failed"],
    handle: async ({ caller, by, body: { name, countryCode } }, { context }) => {
      if (facilitiesOf(caller) !== null) return forbidden;
      const facility = await createFacility(context, { name, countryCode: countryCode.toUpperCase() }, by);
      return { status: 201, body: toWireFacility(facility) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities",
    operationId: "listFacilities",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "List facilities",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      countryCode: Type.Optional(
        Type.String({ format: "country-code", description: "Only facilities in this country." }),
      ),
      closed: flagField("True: only closed facilities. False: only open ones."),
    }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(FacilitySchema, "FacilityPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("facilities", query);
      if (isProblem(position)) return position;
      const { countryCode, closed = null } = query;
      const filter = { ids: facilitiesOf(caller), countryCode: countryCode?.toUpperCase() ?? null, closed };
      const facilities = await listFacilities(context.db, filter, position);
      return { status: 200, body: toPage(facilities, position, toWireFacility) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities/{id}",
    operationId: "getFacility",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "Get a facility",
    params: FacilityIdParams,
    responses: { 200: { description: "The facility.", schema: FacilitySchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
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
    body: Type.Object(
      { name: Type.Optional(shortText(NAME_TEXT)) },
      { title: "FacilityUpdate", description: "Changes of a facility. Absent fields keep their values." },
    ),
    responses: { 200: { description: "The changed facility.", schema: FacilitySchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, by, body: { name } }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const changed = name === undefined ? facility : await renameFacility(context, facility.id, name, by);
      return changed === null ? notFound("facility") : { status: 200, body: toWireFacility(changed) };
    },
  }),
  route({
    method: "POST",
    path: "/api/facilities/{id}/close",
    operationId: "closeFacility",
    admits: warehouse,
    tag: "Facilities",
    summary: "Close a facility",
    description:
      "No further order is routed to it. Orders that were routed to it keep their reservations there, and can be shipped. Its stock and its rates stay. Repeating the request has no further effect.",
    params: FacilityIdParams,
    responses: { 200: { description: "The closed facility.", schema: FacilitySchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      return { status: 200, body: toWireFacility(await closeFacility(context, facility, true, by)) };
    },
  }),
  route({
    method: "POST",
    path: "/api/facilities/{id}/open",
    operationId: "openFacility",
    admits: warehouse,
    tag: "Facilities",
    summary: "Open a closed facility",
    description:
      "Orders can be routed to it again, and orders that wait are evaluated again. Repeating the request has no further effect.",
    params: FacilityIdParams,
    responses: { 200: { description: "The open facility.", schema: FacilitySchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      return { status: 200, body: toWireFacility(await closeFacility(context, facility, false, by)) };
    },
  }),
];
