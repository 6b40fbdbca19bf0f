import { expect, it } from "vitest";
import { weightOf } from "../../docs/.vitepress/theme/search-weights.ts";

it("the search of the documentation finds guides before pages of problems, and these before objects of the API", () => {
  const weights = [
    "/docs/partners/webhooks.html#retries-and-pauses",
    "/docs/warehouse/guide.html#count-stock",
    "/docs/operators/operation.html#backups",
    "/docs/index.html",
    "/docs/errors/stock-changed/#causes",
    "/docs/api/objects.html#deliverytrigger",
  ].map(weightOf);
  expect(weights).toEqual(weights.toSorted((one, other) => other - one));
  expect(new Set(weights).size).toBe(weights.length);
});
