import { expect, it } from "vitest";
import { describedFiles, OPENAPI_FILES } from "../../../scripts/describe-openapi.ts";
import { lintDocument, spectralFindings } from "../../../scripts/lint-openapi/linters.ts";
import { type Operation, PARTNER } from "../../support/openapi.ts";

// `npm run check` lets both linters read both documents.
it("the linters find nothing in the documents that the code describes", async () => {
  // The collections are made of one of them.
  for (const { path, text } of describedFiles().filter(({ path }) => OPENAPI_FILES.includes(path))) {
    const { clean, report } = await lintDocument(JSON.parse(text));
    expect(clean, `${path} ${report}`).toBe(true);
  }
});

it("a document with an error would not pass either linter", async () => {
  const invalid = structuredClone(PARTNER);
  const me = invalid.paths["/v1/me"]?.["get"] as Partial<Operation>;
  delete me.operationId;
  const { clean, report } = await lintDocument(invalid);
  expect(clean).toBe(false);
  expect(report).toContain("operation-operationId");
  const small = { ...invalid, paths: {}, webhooks: {}, components: {}, tags: [], security: [] };
  const { contact: _, ...info } = invalid.info;
  expect(await spectralFindings({ ...small, info })).toEqual([expect.stringContaining("info-contact")]);
});
