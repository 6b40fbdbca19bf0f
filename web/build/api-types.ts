import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import description from "../../openapi/back-office.json" with { type: "json" };
import { installPackages, packageFolder } from "../../scripts/install-packages.ts";
import { ROOT } from "./sources.ts";

const DESCRIPTION = new URL("../../openapi/back-office.json", import.meta.url);
/** Not checked in: it would repeat the description, and conflict with each change of it. */
const TYPES = fileURLToPath(new URL("../src/api/schema.d.ts", import.meta.url));

/** The folder of the packages that make types. The service and the build of the console need none. */
const TOOLS = join(ROOT, "scripts/sdk");
/** What is used of openapi-typescript. */
type Tool = {
  default(source: URL, options: Readonly<Record<string, boolean>>): Promise<readonly unknown[]>;
  astToString(ast: readonly unknown[]): string;
};

/** Writes the types of the back office API, unless those of this description are there. */
export async function writeApiTypes(): Promise<void> {
  const head = await headOf();
  if ((await readTypes())?.startsWith(head)) return;
  installPackages(TOOLS);
  const tool = join(String(packageFolder(TOOLS, "openapi-typescript")), "dist/index.mjs");
  const { default: openapiTypes, astToString }: Tool = await import(pathToFileURL(tool).href);
  const ast = await openapiTypes(DESCRIPTION, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    defaultNonNullable: false, // A field with a default may be left out of a request.
  });
  await mkdir(dirname(TYPES), { recursive: true });
  // A compiler that reads it at the same time sees the old file or the new one.
  await writeFile(`${TYPES}.${process.pid}`, head + astToString(ast) + ruleParameters());
  await rename(`${TYPES}.${process.pid}`, TYPES);
}

/** As `writeApiTypes`, where they have been written before: who only runs the service needs none. */
export async function renewApiTypes(): Promise<void> {
  if ((await readTypes()) !== null) await writeApiTypes();
}

const readTypes = (): Promise<string | null> => readFile(TYPES, "utf8").catch(() => null);

/** Names the description, and the rules by which types are made of it. */
async function headOf(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [DESCRIPTION, new URL(import.meta.url)]) hash.update(await readFile(file));
  return `// Made from openapi/back-office.json by web/build/api-types.ts. Do not change it.\n// ${hash.digest("hex")}\n`;
}

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
