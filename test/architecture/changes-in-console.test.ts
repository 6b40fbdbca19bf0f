import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSourceFiles } from "../../scripts/architecture/source-files.ts";

/** What is changed by the command line alone: a person has never asked for it in the console. */
const NOT_IN_CONSOLE: Readonly<Record<string, string>> = {
  repeatedTrackingNumber: "the answer to a question that only the packing table asks",
  limits: "the limits of a merchant or a connection, which operators change when one is reached",
};

type Operation = {
  readonly operationId: string;
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>> };
};
type Description = {
  readonly paths: Readonly<Record<string, { readonly patch?: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
  };
};

const api = JSON.parse(readFileSync("openapi/back-office.json", "utf8")) as Description;
const changes = Object.entries(api.paths).flatMap(([path, { patch }]) =>
  patch === undefined ? [] : [{ path, ...patch }],
);
const sources = (await readSourceFiles("web")).map(({ path }) => readFileSync(path, "utf8"));

/** The files of the console that send a change. Those of endpoints have one path for the three kinds of owners. */
const sendersOf = (path: string): string[] => {
  const shared = path.replace(
    /^\/api\/(connections|merchants|facilities)\/\{id\}(\/webhook-endpoints)/,
    "$2",
  );
  return sources.filter((text) => /\.PATCH\(/.test(text) && text.includes(`"${shared}"`));
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
    expect(members.filter((member) => !(member in NOT_IN_CONSOLE) && !text.includes(member))).toEqual([]);
  });
});
