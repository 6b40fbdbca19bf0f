import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { partnerRoutes } from "../../src/partner-api/routes.ts";
import {
  createMerchantResources,
  type MerchantResources,
  requestsOf,
} from "../support/back-office-resources.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let resources: MerchantResources;
let endpointId: string;
beforeAll(async () => {
  test = await startTestService();
  resources = await createMerchantResources(test);
  endpointId = (await createEndpoint(resources.partner)).id;
});
afterAll(() => test.close());

/** The names of an object's values that are times, or that can be. */
const timesOf = (schema: { readonly properties?: Record<string, unknown> } = {}): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, value]) =>
    JSON.stringify(value).includes('"date-time"') ? [name] : [],
  );

const ROUTES = [...backOfficeRoutes, ...partnerRoutes];
const FILTERS = ROUTES.flatMap(({ operationId, path, query }) =>
  timesOf(query).map((parameter) => ({ operationId, path, parameter })),
);
const FIELDS = ROUTES.flatMap(({ operationId, method, path, body }) =>
  timesOf(body).map((field) => ({ operationId, method, path, field })),
);

function targetOf(operationId: string, path: string): string {
  if (path.startsWith("/v1/")) return path.replace("{endpointId}", endpointId);
  return requestsOf(resources).find((each) => each.operationId === operationId)?.path ?? path;
}

const clientOf = (path: string) => (path.startsWith("/v1/") ? resources.partner.client : test.backOffice);

const filteredBy = (operationId: string, path: string, filter: Record<string, string>): Promise<Answer> =>
  clientOf(path).get(`${targetOf(operationId, path)}?${new URLSearchParams(filter)}`);

const YEARS = { rule: "year", min: 0, max: 9_999, detail: "must be in the years 0000 to 9999 in UTC" };
const FORM = {
  rule: "format",
  format: "date-time",
  detail: "must be an ISO 8601 date-time with a time zone",
};
const REJECTED = [
  ["before the year 0000 in UTC", "0000-01-01T00:00:00+14:00", YEARS],
  ["after the year 9999 in UTC", "9999-12-31T23:59:59-00:01", YEARS],
  ["in a leap second before midnight", "2016-12-31T12:00:60Z", FORM],
  ["with an hour that only its offset would correct", "2017-01-01T24:59:60+01:00", FORM],
  ["on a day that does not exist", "2026-02-30T00:00:00Z", FORM],
  ["with a line break", "2026-03-02\n09:00:00Z", FORM],
] as const;
const TAKEN = [
  ["before all ids", "1900-01-01T00:00:00Z"],
  ["in the first second", "0000-01-01T00:00:00Z"],
  ["in the last millisecond", "9999-12-31T23:59:59.999Z"],
  ["with an offset without minutes", "2026-03-02T09:00:00+02"],
  ["with an offset without a colon", "2026-03-02T09:00:00-0330"],
  ["with a space before the hour", "0001-03-02 09:00:00Z"],
  ["in a leap second", "2016-12-31T23:59:60Z"],
] as const;

it("times are found in filters and bodies of both listeners", () => {
  expect(FILTERS.length).toBeGreaterThan(15);
  expect(FIELDS.map(({ operationId, field }) => `${operationId} ${field}`)).toEqual(
    expect.arrayContaining(["createKey expiresAt", "searchOrders updatedSince", "createResend until"]),
  );
});

describe.each(FILTERS)("$operationId by $parameter", ({ operationId, path, parameter }) => {
  it.each(TAKEN)("takes a time %s", async (_name, time) => {
    const { status, body } = await filteredBy(operationId, path, { [parameter]: time });
    // A statement of a period that ends before it begins is rejected.
    const statuses = operationId.endsWith("Statement") ? [200, 422] : [200];
    expect(statuses, JSON.stringify(body)).toContain(status);
  });

  it.each(REJECTED)("rejects a time %s, and names it", async (_name, time, error) => {
    const { status, body } = await filteredBy(operationId, path, { [parameter]: time });
    expect([status, body.errors]).toEqual([422, [{ parameter, ...error }]]);
  });
});

describe.each(FIELDS)("$operationId with $field", ({ operationId, method, path, field }) => {
  const send = (time: string): Promise<Answer> =>
    clientOf(path).request(method, targetOf(operationId, path), { body: { [field]: time } });

  it.each(REJECTED)("rejects a time %s, names it, and changes nothing", async (_name, time, error) => {
    const before = await dumpTables(test);
    const { status, body } = await send(time);
    expect([status, body.errors]).toEqual([
      422,
      expect.arrayContaining([{ pointer: `/${field}`, ...error }]),
    ]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it.each(TAKEN)("reads a time %s", async (_name, time) => {
    const { status, body } = await send(time);
    // The endpoint is of the connection, so routes of the merchant's and the facility's do not find it, once the body is read.
    expect([200, 201, 202, 404, 409, 422], JSON.stringify(body)).toContain(status);
    expect(JSON.stringify(body)).not.toContain(FORM);
    expect(JSON.stringify(body)).not.toContain(YEARS);
  });
});

it("a statement from the first second shows it", async () => {
  const path = `/api/merchants/${resources.partner.merchantId}/statement`;
  const { body } = await test.backOffice.get(`${path}?from=0000-01-01T00:00:00Z`);
  expect(body.from).toBe("0000-01-01T00:00:00.000Z");
});
