import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("the environment is read only by src/platform/config.ts; others pass it on, to it and to PostgreSQL's programs", () => {
  const readers = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && readFileSync(join("src", file), "utf8").includes("process.env"))
    .sort();
  expect(readers).toEqual(["cli/main.ts", "platform/embedded-postgres/cluster.ts", "service/run-service.ts"]);
});

it("a script of package.json that starts a TypeScript file first says in one line that a Node is too old for it", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const unchecked = Object.entries(scripts)
    .filter(([, commands]) => commands.includes(".ts"))
    .filter(([, commands]) => !/^(TEST_|TAKE_|SCREENSHOTS)/.test(commands)) // They run vitest.
    // Biome comes first in `check`, and is no program of Node.
    .filter(([name]) => name !== "check")
    .map(([name, commands]) => [name, commands.split(".ts")[0]])
    .filter(([, first]) => !first?.includes("bin/needs-node.js"));
  expect(unchecked).toEqual([]);
});
