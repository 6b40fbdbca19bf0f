import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/main-process.ts";

it("npm run sbom lists every run-time package, and writes the same bytes again", async () => {
  const folder = await temporaryFolder();
  const [first, second] = ["a.json", "b.json"].map((name) => {
    const path = join(folder, name);
    // Without a network: nothing listens at this address.
    const env = { ...process.env, npm_config_registry: "http://127.0.0.1:9" };
    execFileSync(process.execPath, ["scripts/supply-chain/sbom.ts", path], { env });
    return readFileSync(path, "utf8");
  });
  expect(second).toBe(first);
  const bom = JSON.parse(String(first));
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", serialNumber: expect.stringMatching(/^urn:uuid:/) });
  const listed = new Set(bom.components.map(({ name }: { name: string }) => name));
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(Object.keys(dependencies).filter((name) => !listed.has(name))).toEqual([]);
  const tools = ["@redocly/cli", "@stryker-mutator/core", "orval"];
  const scopes = tools.map(
    (tool) => bom.components.find(({ name }: { name: string }) => name === tool)?.scope,
  );
  expect(scopes, "tools, which no installation of the service has").toEqual(tools.map(() => "excluded"));
  const refs = bom.components.map((component: { "bom-ref": string }) => component["bom-ref"]);
  expect(new Set(refs).size, "each package once").toBe(refs.length);
});
