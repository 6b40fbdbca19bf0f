import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSourceFiles } from "../../scripts/architecture/source-files.ts";

/** What no form sends by this name, and why. */
const NOT_IN_CONSOLE: Readonly<Record<string, string>> = {
  exposeProduct: "the console exposes products in bulk",
  repeatedTrackingNumber: "the answer to a question, which the forms of shipments share",
  kind: "the kind of an endpoint never changes: the service rejects it",
  page: "a saved view stays with its page",
};

type Operation = {
  readonly operationId: string;
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>> };
};
type Description = {
  readonly paths: Readonly<Record<string, { readonly patch?: Operation; readonly put?: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
  };
};

const api = JSON.parse(readFileSync("openapi/back-office.json", "utf8")) as Description;
const changes = Object.entries(api.paths).flatMap(([path, { patch, put }]) =>
  [patch, put]
    .filter((change) => change !== undefined)
    .filter(({ operationId }) => !(operationId in NOT_IN_CONSOLE))
    .map((change) => ({ path, ...change })),
);
const sources = (await readSourceFiles("web")).map(({ path }) => readFileSync(path, "utf8"));

/** The files of the console that send a change. Those of endpoints have one path for the three kinds of owners. */
const sendersOf = (path: string): string[] => {
  const shared = path.replace(
    /^\/api\/(connections|merchants|facilities)\/\{id\}(\/webhook-endpoints)/,
    "$2",
  );
  return sources.filter((text) => /\.(PATCH|PUT)\(/.test(text) && text.includes(`"${shared}"`));
};

describe("everything that can be created can be changed in the console", () => {
  it.each(changes)("$operationId has a button", ({ path }) => {
    expect(sendersOf(path).length).toBeGreaterThan(0);
  });

  it.each(changes)("$operationId offers each member", ({ path, requestBody }) => {
    const { $ref } = requestBody.content["application/json"]?.schema ?? { $ref: "" };
    const members = Object.keys(api.components.schemas[$ref.split("/").at(-1) ?? ""]?.properties ?? {});
    expect(members).not.toEqual([]);
    const text = sendersOf(path).join("\n");
    const isSent = (member: string) => member in NOT_IN_CONSOLE || new RegExp(`\\b${member}\\b`).test(text);
    expect(members.filter((member) => !isSent(member))).toEqual([]);
  });
});
