import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeBackOffice, describePartnerApi } from "../src/api/descriptions.ts";
import { readConfig } from "../src/platform/config.ts";

const DESCRIBE = {
  "openapi/partner.json": describePartnerApi,
  "openapi/back-office.json": describeBackOffice,
};

export const OPENAPI_FILES = Object.keys(DESCRIBE);

/** The texts of the OpenAPI documents, with the addresses that are the defaults of the configuration. */
export const describedFiles = (): { path: string; text: string }[] =>
  Object.entries(DESCRIBE).map(([path, describe]) => ({
    path,
    text: `${JSON.stringify(describe(readConfig({})), null, 2)}\n`,
  }));

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { path, text } of describedFiles()) await writeFile(path, text);
