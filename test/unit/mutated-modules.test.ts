import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Stryker skips a path that leads nowhere, so a module that moves would no longer be measured. */
it("each module that mutation tests change exists", () => {
  const { mutate } = JSON.parse(readFileSync("stryker.config.json", "utf8"));
  expect(mutate.filter((path: string) => !existsSync(path))).toEqual([]);
});
