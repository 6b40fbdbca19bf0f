import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { areTypesOf, type Description, TYPES_FILE, tablesOf, typesOf } from "./sdk-files.ts";

const PATH = "openapi/partner.json";
const description: Description = JSON.parse(await readFile(PATH, "utf8"));

const files = { ...(await tablesOf(description)) };
const types = await readFile(TYPES_FILE, "utf8").catch(() => "");
// The generator is a package of its own, so it runs only if it must.
if (!areTypesOf(description, types)) files[TYPES_FILE] = await typesOf(description, PATH);
for (const [path, text] of Object.entries(files)) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
