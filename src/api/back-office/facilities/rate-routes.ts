import { type Static, Type } from "typebox";
import { readRates } from "../../../fulfilment/facilities/facilities-sql.ts";
import { type Rate, ratesVersion } from "../../../fulfilment/facilities/facility.ts";
import { setRates } from "../../../fulfilment/facilities/set-rates.ts";
import { isCurrency } from "../../../platform/currencies.ts";
import { formatMoney } from "../../../platform/money.ts";
import { expectedVersionField, versionField } from "../../../platform/wire/content-version.ts";
import { MoneyRequestSchema, MoneySchema } from "../../../platform/wire/money-schema.ts";
import { isProblem, notFound, type ValidationError } from "../../../platform/wire/problems.ts";
import { describedAs } from "../../../platform/wire/schemas.ts";
import { andMonitoring, type BackOfficeRoute, route, warehouse } from "../access.ts";
import { FacilityIdParams, findFacility } from "../lookups.ts";
import { amountErrors, minorOf, valueAt } from "../money/amounts.ts";

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
    return [...errors, { pointer, detail: `has the same country, currency and weight as /rates/${earlier}` }];
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
