import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../../src/api/back-office/routes.ts";
import {
  createMerchantResources,
  type MerchantResources,
  requestsOf,
} from "../../support/back-office-resources.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let test: TestService;
let resources: MerchantResources;
beforeAll(async () => {
  test = await startTestService();
  resources = await createMerchantResources(test);
});
afterAll(() => test.close());

/** The parameters of a query that are times. */
const timesOf = (
  query: { readonly properties?: Record<string, { readonly format?: string }> } = {},
): string[] =>
  Object.entries(query.properties ?? {}).flatMap(([name, { format }]) =>
    format === "date-time" ? [name] : [],
  );

const FILTERS = backOfficeRoutes.flatMap(({ operationId, query }) =>
  timesOf(query).map((parameter) => ({ operationId, parameter })),
);

describe.each(FILTERS)("$operationId by $parameter", ({ operationId, parameter }) => {
  it.each([
    ["before all ids", "1900-01-01T00:00:00Z"],
    ["in the first year", "0000-01-01T00:00:00Z"],
    ["in the last second", "9999-12-31T23:59:59-23:59"],
    ["with an offset without minutes", "2026-03-02T09:00:00+02"],
    ["with an offset without a colon", "2026-03-02T09:00:00-0330"],
    ["in a leap second", "2016-12-31T23:59:60Z"],
  ])("takes a time %s", async (_name, time) => {
    const request = requestsOf(resources).find((each) => each.operationId === operationId);
    const path = `${request?.path}?${new URLSearchParams({ [parameter]: time })}`;
    const { status, body } = await test.backOffice.get(path);
    // A statement of a period that ends before it begins is rejected.
    const statuses = operationId.startsWith("getStatement") ? [200, 422] : [200];
    expect(statuses, JSON.stringify(body)).toContain(status);
  });
});
