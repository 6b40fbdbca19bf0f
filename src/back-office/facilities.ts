import { type Static, Type } from "typebox";
import { changeFacility, closeFacility, createFacility, setRates } from "../fulfilment/facilities.ts";
import {
  type Facility,
  type FacilityAddress,
  listFacilities,
  type Rate,
  ratesVersion,
  readRates,
} from "../fulfilment/facilities-sql.ts";
import { toTypeId } from "../platform/ids.ts";
import { normalMailAddress } from "../platform/mail-address.ts";
import { formatMoney, isCurrency } from "../platform/money.ts";
import { expectedVersionField, versionField } from "../platform/wire/content-version.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { forbidden, isProblem, notFound, type ValidationError } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  idField,
  limitField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
  nullableTime,
  pageOf,
  shortText,
} from "../platform/wire/schemas.ts";
import { andMonitoring, type BackOfficeRoute, facilitiesOf, route, warehouse } from "./access.ts";
import { FacilityIdParams, findFacility } from "./lookups.ts";
import { amountErrors, minorOf, valueAt } from "./money/amounts.ts";

const NAME_TEXT = "Name of the facility.";
const COUNTRY_TEXT = "ISO 3166-1 country code of two letters.";

const ADDRESS_TEXT =
  "Where parcels come from and come back to, as slips print it; its country is that of the facility. Null if it is not known.";
const ADDRESS_TEXTS = {
  company: "Company, if it is not the name of the facility.",
  address1: "Street and number, or the first line of the address.",
  address2: "Second line of the address.",
  city: "City or town.",
  zip: "Postal code.",
  stateCode: "State or province.",
  phone: "Phone number for questions about a parcel.",
  email: "Mail address for questions about a parcel.",
} as const;

const optionalPart = (description: string) =>
  nullable(Type.String(), `${description} Null if there is none.`);
export const FacilityAddressSchema = Type.Object(
  {
    company: optionalPart(ADDRESS_TEXTS.company),
    address1: Type.String({ description: ADDRESS_TEXTS.address1 }),
    address2: optionalPart(ADDRESS_TEXTS.address2),
    city: Type.String({ description: ADDRESS_TEXTS.city }),
    zip: optionalPart(ADDRESS_TEXTS.zip),
    stateCode: optionalPart(ADDRESS_TEXTS.stateCode),
    phone: optionalPart(ADDRESS_TEXTS.phone),
    email: optionalPart(ADDRESS_TEXTS.email),
  },
  { title: "FacilityAddress", description: "The address of a facility." },
);

const FacilityAddressRequestSchema = Type.Object(
  {
    company: Type.Optional(shortText(ADDRESS_TEXTS.company)),
    address1: shortText(ADDRESS_TEXTS.address1),
    address2: Type.Optional(shortText(ADDRESS_TEXTS.address2)),
    city: shortText(ADDRESS_TEXTS.city),
    zip: Type.Optional(shortText(ADDRESS_TEXTS.zip)),
    stateCode: Type.Optional(shortText(ADDRESS_TEXTS.stateCode)),
    phone: Type.Optional(shortText(ADDRESS_TEXTS.phone)),
    email: Type.Optional(Type.String({ format: "email", maxLength: 254, description: ADDRESS_TEXTS.email })),
  },
  { title: "FacilityAddressRequest", description: "The whole address of a facility." },
);

/** An address is replaced as a whole. */
const toAddress = (
  sent: Static<typeof FacilityAddressRequestSchema> | null | undefined,
): FacilityAddress | null =>
  sent == null
    ? null
    : {
        company: sent.company ?? null,
        address1: sent.address1,
        address2: sent.address2 ?? null,
        city: sent.city,
        zip: sent.zip ?? null,
        stateCode: sent.stateCode ?? null,
        phone: sent.phone ?? null,
        email: sent.email === undefined ? null : normalMailAddress(sent.email),
      };

const FacilitySchema = Type.Object(
  {
    id: idField("fac", "Id of the facility, set by the service."),
    name: Type.String({ description: NAME_TEXT }),
    countryCode: Type.String({ description: `${COUNTRY_TEXT} Always in upper case.`, examples: ["DE"] }),
    address: nullable(FacilityAddressSchema, ADDRESS_TEXT),
    createdAt: dateTime("When the facility was created."),
    closedAt: nullableTime("When the facility was closed: no order is routed to it. Null while it is open."),
  },
  { title: "Facility", description: "A place that orders are shipped from. The warehouse changes it." },
);

const toWireFacility = (facility: Facility): Static<typeof FacilitySchema> => ({
  id: toTypeId("fac", facility.id),
  name: facility.name,
  countryCode: facility.countryCode,
  address: facility.address,
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
        address: Type.Optional(nullable(FacilityAddressRequestSchema, ADDRESS_TEXT)),
      },
      { title: "FacilityRequest", description: "A new facility." },
    ),
    responses: { 201: { description: "The facility was created.", schema: FacilitySchema } },
    problems: ["forbidden", "validation-failed"],
    handle: async ({ caller, by, body: { name, countryCode, address } }, { context }) => {
      if (facilitiesOf(caller) !== null) return forbidden;
      const fields = { name, countryCode: countryCode.toUpperCase(), address: toAddress(address) };
      const facility = await createFacility(context, fields, by);
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
    summary: "Change a facility",
    params: FacilityIdParams,
    body: Type.Object(
      {
        name: Type.Optional(shortText(NAME_TEXT)),
        address: Type.Optional(nullable(FacilityAddressRequestSchema, ADDRESS_TEXT)),
      },
      { title: "FacilityUpdate", description: "Changes of a facility. Absent fields keep their values." },
    ),
    responses: { 200: { description: "The changed facility.", schema: FacilitySchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, by, body: { name, address } }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const change = {
        ...(name !== undefined && { name }),
        ...(address !== undefined && { address: toAddress(address) }),
      };
      const changed = await changeFacility(context, facility.id, change, by);
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

const WEIGHT_TEXT =
  "Maximum weight of the order in grams. If several rates cover an order, the one with the lowest maximum applies.";
const PRICE_TEXT = "Price of shipping. A facility can have rates in several currencies.";

const RatesSchema = Type.Object(
  {
    rates: Type.Array(
      Type.Object(
        {
          countryCode: Type.String({
            description: "Country that the order is shipped to: ISO 3166-1 code of two upper-case letters.",
          }),
          maxWeightGrams: Type.Integer({ description: WEIGHT_TEXT }),
          price: describedAs(MoneySchema, PRICE_TEXT),
        },
        { title: "Rate", description: "The price of shipping to a country, up to a weight." },
      ),
      { description: "The rates, by country, currency and weight." },
    ),
    version: versionField("these rates"),
  },
  { title: "Rates", description: "All shipping rates of a facility." },
);

/** As many as fit into the largest body, roughly. */
const RATES_MAX = 2_500;

const RateRequestSchema = Type.Object(
  {
    countryCode: Type.String({
      format: "country-code",
      description: "Country that the order is shipped to: ISO 3166-1 code of two letters.",
    }),
    maxWeightGrams: Type.Integer({ minimum: 1, maximum: 2_000_000_000, description: WEIGHT_TEXT }),
    price: describedAs(MoneyRequestSchema, PRICE_TEXT),
  },
  { title: "RateRequest", description: "The price of shipping to a country, up to a weight." },
);

const RatesRequestSchema = Type.Object(
  {
    rates: Type.Array(RateRequestSchema, {
      maxItems: RATES_MAX,
      description: "The rates that replace all others.",
    }),
    expectedVersion: expectedVersionField("version"),
  },
  { title: "RatesRequest", description: "All shipping rates of a facility." },
);

const toWireRates = (rates: readonly Rate[]): Static<typeof RatesSchema> => ({
  rates: rates.map(({ countryCode, currency, maxWeightGrams, priceMinor }) => ({
    countryCode,
    maxWeightGrams,
    price: formatMoney({ minor: priceMinor, currency }),
  })),
  version: ratesVersion(rates),
});

const toRate = ({ countryCode, maxWeightGrams, price }: Static<typeof RateRequestSchema>): Rate => ({
  countryCode: countryCode.toUpperCase(),
  currency: price.currency,
  maxWeightGrams,
  priceMinor: minorOf(price),
});

/** Errors of prices with too many decimals, and of rates for the same country, currency and weight. */
function ratesErrors(body: unknown): ValidationError[] {
  const rates = valueAt(body, "/rates");
  if (!Array.isArray(rates)) return [];
  const first = new Map<string, number>();
  return rates.slice(0, RATES_MAX).flatMap((rate: unknown, index) => {
    const pointer = `/rates/${index}`;
    const currency = valueAt(rate, "/price/currency");
    const errors = isCurrency(currency) ? amountErrors(body, `${pointer}/price`, currency) : [];
    const key = bracketOf(rate);
    const earlier = key === null ? undefined : first.get(key);
    if (key !== null && earlier === undefined) first.set(key, index);
    if (earlier === undefined) return errors;
    return [...errors, { pointer, rule: "duplicate_rate", earlier }];
  });
}

/** The key of a rate. Null if a part is missing, which the schema reports. */
function bracketOf(rate: unknown): string | null {
  const [country, currency, weight] = ["/countryCode", "/price/currency", "/maxWeightGrams"].map((pointer) =>
    valueAt(rate, pointer),
  );
  if (typeof country !== "string" || typeof currency !== "string" || typeof weight !== "number") return null;
  return `${country.toUpperCase()} ${currency} ${weight}`;
}

export const rateRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/facilities/{id}/rates",
    operationId: "getRates",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "Get a facility's shipping rates",
    params: FacilityIdParams,
    responses: { 200: { description: "All rates of the facility.", schema: RatesSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      return { status: 200, body: toWireRates(await readRates(context.db, facility.id)) };
    },
  }),
  route({
    method: "PUT",
    path: "/api/facilities/{id}/rates",
    operationId: "setRates",
    admits: warehouse,
    tag: "Facilities",
    summary: "Replace a facility's shipping rates",
    description:
      "Replaces all rates of the facility. Routed orders keep their price. Orders that wait for a rate are routed again.",
    params: FacilityIdParams,
    body: RatesRequestSchema,
    responses: { 200: { description: "The new rates.", schema: RatesSchema } },
    problems: ["not-found", "version-changed", "validation-failed"],
    bodyErrors: async ({ body }) => ratesErrors(body),
    handle: async ({ caller, params, body, by }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const { rates, expectedVersion } = body;
      const set = await setRates(context, facility.id, { rates: rates.map(toRate), expectedVersion }, by);
      if (set === null) return notFound("facility");
      return isProblem(set) ? set : { status: 200, body: toWireRates(set) };
    },
  }),
];
