import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeBackOffice } from "../src/back-office/description.ts";
import { describePartnerApi } from "../src/partner-api/description.ts";
import { readConfig } from "../src/platform/config.ts";
import { ACCESS_PAGE, describedAccess } from "./describe-access.ts";
import { collectionFiles } from "./describe-collections.ts";

const DOCUMENTS = {
  "openapi/partner.json": { describe: describePartnerApi, address: "http://localhost:8080" },
  "openapi/back-office.json": { describe: describeBackOffice, address: "http://localhost:8081" },
};
export const OPENAPI_FILES = Object.keys(DOCUMENTS);

const EXAMPLE = readConfig({ ERRORS_BASE_URL: "https://orders.example/errors" });

const serverAt = (address: string) => ({
  url: "{baseUrl}",
  description: "The listener of a deployment.",
  variables: { baseUrl: { default: address, description: "Its address, without the path." } },
});

/**
 * The texts of the OpenAPI documents. They belong to no deployment, so the address of the server is a variable, and that
 * of the problem pages an example. A running service serves them with its own addresses.
 */
export const describedFiles = (): { path: string; text: string }[] => [
  ...Object.entries(DOCUMENTS).map(([path, { describe, address }]) => ({
    path,
    text: `${JSON.stringify(describe(EXAMPLE, serverAt(address)), null, 2)}\n`,
  })),
  ...collectionFiles(EXAMPLE, DOCUMENTS["openapi/partner.json"].address),
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of describedFiles()) await writeFile(path, text);
  await writeFile(ACCESS_PAGE, describedAccess(await readFile(ACCESS_PAGE, "utf8")));
  // The console is checked against what is described. It has a compiler and types of its own.
  await import(new URL("../web/build/write-types.ts", import.meta.url).href);
  // The SDK of partners has what it needs of the description checked in.
  await import(new URL("sdk/describe.ts", import.meta.url).href);
}
