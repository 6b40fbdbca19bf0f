import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

it.each([
  ["schema.sql", "a2d722c6161f5cbcb134918467fba7e792453b166309549c109e22a502de6bf0"],
  ["insert-orders.sql", "d5700056dcdb3d33a0a1ecd09ef17d99d6ee11790f0b0d40d9e16892347efa37"],
])(
  "the reference of creation is frozen, whatever happens to the service's schema: %s",
  async (name, digest) => {
    const text = await readFile(`bench/reference/${name}`);
    expect(createHash("sha256").update(text).digest("hex")).toBe(digest);
  },
);

it("its database has nothing but its own tables", async () => {
  const source = await readFile("bench/reference/reference.ts", "utf8");
  expect(source.match(/runScript\(await readFile\(.*\)/g)).toHaveLength(1);
  expect(source).not.toMatch(/migrat|startService|openSite|functions\//);
});
