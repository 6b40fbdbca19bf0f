import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { wireLifecycle } from "../../src/partner-api/lifecycle.ts";
import { installPackages, packageFolder } from "../install-packages.ts";

/** What is read of openapi/partner.json. */
export type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<
    Record<string, { post: { requestBody: { content: { "application/json": { example: unknown } } } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};
type Operation = { readonly operationId: string; readonly "x-retry": string };

const HERE = "scripts/sdk";
const GENERATED = "packages/sdk/src/generated";
export const TYPES_FILE = `${GENERATED}/types.ts`;
/** What `@partner-orders/sdk/lifecycle` exports. */
const LIFECYCLE_FILE = `${GENERATED}/lifecycle.ts`;
const HEAD = "// Made from openapi/partner.json by `npm run describe`. Do not change it.\n";

const run = promisify(execFile);

/** The generated files of the SDK whose making needs no packages, by path. */
export const tablesOf = async (description: Description): Promise<Readonly<Record<string, string>>> => ({
  [`${GENERATED}/operations.ts`]: await formatted("operations.ts", operationsOf(description)),
  [`${GENERATED}/samples.ts`]: await formatted("samples.ts", samplesOf(description)),
  [LIFECYCLE_FILE]: await formatted("lifecycle.ts", LIFECYCLE),
});

/** The method, the path and the class of retry of each operation. */
function operationsOf({ paths }: Description): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId, "x-retry": retry }]) =>
        `${operationId}: ${JSON.stringify([method.toUpperCase(), path, retry])},\n`,
    ),
  );
  return `${HEAD}
/** Of each operation: its method, its path, and how it may be repeated. */
export const OPERATIONS = {\n${rows.join("")}} as const;
`;
}

/** The example of each event. */
function samplesOf({ webhooks }: Description): string {
  const samples = Object.entries(webhooks).map(([type, { post }]) => [
    type,
    post.requestBody.content["application/json"].example,
  ]);
  return `${HEAD}
/** An example of each event, by its type. */
export const SAMPLES = ${JSON.stringify(Object.fromEntries(samples))} as const;
`;
}

/** The lifecycle as this version of the service decides. */
const LIFECYCLE = `/**
 * The lifecycle of orders as data, as \`GET /v1/lifecycle\` returns it.
 *
 * @packageDocumentation
 */
// Made from the rules of the service by \`npm run describe\`. Do not change it.

import type { Lifecycle } from "./types.ts";

/** Every status, and every transition of real and of test orders, in this version. A newer service can have more. */
export const lifecycle: Lifecycle = ${JSON.stringify(wireLifecycle())};
`;

/** The types of the schemas and of the queries. A stamp shows what they were made from. */
export async function typesOf(description: Description, path: string): Promise<string> {
  installPackages(HERE);
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-sdk-"));
  try {
    const program = join(String(packageFolder(HERE, "@hey-api/openapi-ts")), "bin/run.js");
    const options = ["-i", resolve(path), "-o", folder, "-p", "@hey-api/typescript", "--no-log-file", "-s"];
    await run(process.execPath, [program, ...options], { cwd: folder });
    const all = await readFile(join(folder, "types.gen.ts"), "utf8");
    const text = await formatted("types.ts", `${HEAD}${ownTypes(all, description)}`);
    return `${text}${stampOf(description, text)}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Of the generator's types only those that the SDK shows: the responses of each operation by status and much else is left out. */
function ownTypes(all: string, { components }: Description): string {
  return all
    .split(/\n\n(?=\/\*\*|export type)/)
    .filter((declaration) => {
      const name = /^export type (\w+) =/m.exec(declaration)?.[1] ?? "";
      return name in components.schemas || (/Data$/.test(name) && /^ {4}query\?: \{/m.test(declaration));
    })
    .join("\n\n")
    .replaceAll(/(= Known\w+) \| string;/g, "$1 | (string & {});") // Otherwise the compiler forgets the known values.
    .replaceAll(/\(\{\n\s+\w+: '[^']+';\n\} & (\w+)\)/g, "$1"); // The member is already a literal in the schema.
}

const STAMP = /\/\/ sha256 (\w+)\n$/;
const stampOf = ({ paths, components }: Description, text: string): string =>
  `// sha256 ${createHash("sha256")
    .update(JSON.stringify([paths, components.schemas, text]))
    .digest("hex")}\n`;

/** Whether types were made from this description, and are as they were made. */
export const areTypesOf = (description: Description, types: string): boolean =>
  types.replace(STAMP, "") + stampOf(description, types.replace(STAMP, "")) === types;

async function formatted(name: string, text: string): Promise<string> {
  const biome = execFile(process.execPath, [
    "node_modules/@biomejs/biome/bin/biome",
    "format",
    `--stdin-file-path=${GENERATED}/${name}`,
  ]);
  biome.stdin?.end(text);
  let output = "";
  for await (const chunk of biome.stdout ?? []) output += chunk;
  return output;
}
