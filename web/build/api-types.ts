import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTypes, { astToString } from "openapi-typescript";
import description from "../../openapi/back-office.json" with { type: "json" };

const DESCRIPTION = new URL("../../openapi/back-office.json", import.meta.url);
/** Not checked in: it would repeat the description, and conflict with each change of it. */
const TYPES = fileURLToPath(new URL("../src/api/schema.d.ts", import.meta.url));

const HEAD = "// Made from openapi/back-office.json by web/build/api-types.ts. Do not change it.\n";

/** The parameters of each rule of an error. The description lists their names, because OpenAPI has no form for it. */
function ruleParameters(): string {
  const rules = Object.entries(description.components.schemas.ValidationRule["x-parameters"]);
  const unionOf = (names: readonly string[]) => names.map((name) => `"${name}"`).join(" | ") || "never";
  const members = rules.map(
    ([rule, { needs, may }]) =>
      `    ${rule}: Required<Pick<ValidationError, ${unionOf(needs)}>> & Pick<ValidationError, ${unionOf(may)}>;`,
  );
  return `export type RuleParameters = {\n${members.join("\n")}\n};\n`;
}

/** Writes the types of the back office API. Returns whether they have changed. */
export async function writeApiTypes(): Promise<boolean> {
  const ast = await openapiTypes(DESCRIPTION, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    defaultNonNullable: false, // A field with a default may be left out of a request.
  });
  const text = HEAD + astToString(ast) + ruleParameters();
  const before = await readFile(TYPES, "utf8").catch(() => null);
  if (before === text) return false;
  await mkdir(dirname(TYPES), { recursive: true });
  // A compiler that reads it at the same time sees the old file or the new one.
  await writeFile(`${TYPES}.${process.pid}`, text);
  await rename(`${TYPES}.${process.pid}`, TYPES);
  return true;
}
