import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { PartnerOrders } from "../../../packages/sdk/src/index.ts";
import { areTypesOf, type Description, TYPES_FILE, tablesOf } from "../../../scripts/sdk/sdk-files.ts";
import { cannedClient } from "../../support/partner-sdk.ts";

const description: Description = JSON.parse(await readFile("openapi/partner.json", "utf8"));

/** Methods that are made of others. */
const COMPOSED = ["orders.createOrGet", "events.follow", "pull.consume", "reconcile"];

type Method = (...args: unknown[]) => PromiseLike<unknown>;

/** All methods of a client, as `orders.create` or `me`. */
function methodsOf(client: PartnerOrders): [name: string, call: Method][] {
  const own = (object: object): [string, Method][] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object))
      .filter((name) => name !== "constructor")
      .map((name) => [name, (object as Record<string, Method>)[name]?.bind(object) as Method]);
  const groups = Object.entries(client).flatMap(([group, object]) =>
    own(object as object).map(([name, call]): [string, Method] => [`${group}.${name}`, call]),
  );
  return [...own(client), ...groups].filter(([name]) => !COMPOSED.includes(name));
}

it("the SDK has exactly one method for each operation of the description", async () => {
  const requested: string[] = [];
  for (const [name] of methodsOf(cannedClient([]).client)) {
    const { client, sent } = cannedClient([{ body: { data: [], nextCursor: null } }]);
    const call = methodsOf(client).find(([one]) => one === name)?.[1];
    // A method takes an id first, or a body.
    const takesBody = [
      "orders.create",
      "orders.search",
      "webhookEndpoints.create",
      "certifications.create",
      "testKeys.create",
    ].includes(name);
    const isList = name.endsWith(".list");
    const args =
      takesBody || isList || !name.includes(".")
        ? [{ externalOrderId: "web-1" }]
        : ["id-1", name === "testOrders.track" ? "id-1" : {}, {}];
    if (isList) args[0] = {} as never;
    await call?.(...args);
    const [{ method, path } = { method: "", path: "" }] = sent;
    requested.push(`${method} ${path.replaceAll("id-1", "{}")}`);
  }
  const { "/v1/mcp": _forAgents, ...paths } = description.paths; // Clients of its protocol use it.
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`),
  );
  expect(requested.sort()).toEqual(described.sort());
});

describe("what the SDK has of the description (else: npm run describe)", () => {
  it("operations and samples are those of openapi/partner.json", async () => {
    for (const [path, text] of Object.entries(await tablesOf(description)))
      expect(await readFile(path, "utf8"), path).toBe(text);
  });

  it("types were made from openapi/partner.json", async () => {
    const types = await readFile(TYPES_FILE, "utf8");
    expect(areTypesOf(description, types)).toBe(true);
    expect(areTypesOf(description, types.replace("testMode: boolean", "testMode: string"))).toBe(false);
    const other = { ...description, components: { schemas: { ...description.components.schemas, New: {} } } };
    expect(areTypesOf(other, types)).toBe(false);
  });
});
