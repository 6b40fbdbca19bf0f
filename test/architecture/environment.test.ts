import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("the environment is read only by src/platform/config.ts; others pass it on, to it and to PostgreSQL's programs", () => {
  const readers = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && readFileSync(join("src", file), "utf8").includes("process.env"))
    .sort();
  expect(readers).toEqual(["cli/main.ts", "platform/embedded-postgres/cluster.ts", "service/run-service.ts"]);
});
