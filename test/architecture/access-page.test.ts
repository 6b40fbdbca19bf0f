import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ACCESS_PAGE, describedAccess } from "../../scripts/describe-access.ts";

it(`${ACCESS_PAGE} has the roles of every route; \`npm run describe\` renews it`, () => {
  const page = readFileSync(ACCESS_PAGE, "utf8");
  expect(page).toBe(describedAccess(page));
});
