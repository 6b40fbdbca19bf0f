import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  findChangedMigrations,
  findUnsealedMigrations,
  readManifest,
  readMigrations,
} from "../../scripts/seal-migrations.ts";
import { commandsOnCitus } from "../../src/distribution/commands-on-citus.ts";
import { splitAtTop } from "../../src/distribution/split-commands.ts";

it("no migration was changed after it was sealed, and each one is sealed", async () => {
  const [migrations, sealed] = await Promise.all([readMigrations(), readManifest()]);
  expect([
    ...findChangedMigrations(migrations, sealed),
    ...findUnsealedMigrations(migrations, sealed),
  ]).toEqual([]);
});

it("reports a migration that was changed, one that was removed, and one that is not sealed", () => {
  const files = new Map([
    ["migrations/0001_a.sql", "2"],
    ["migrations/0003_c.sql", "3"],
  ]);
  const sealed = new Map([
    ["migrations/0001_a.sql", "1"],
    ["migrations/0002_b.sql", "2"],
  ]);
  expect(findChangedMigrations(files, sealed)).toEqual([
    expect.stringContaining("migrations/0001_a.sql was changed after it was sealed"),
    expect.stringContaining("migrations/0002_b.sql was removed after it was sealed"),
  ]);
  expect(findUnsealedMigrations(files, sealed)).toEqual([
    "migrations/0003_c.sql is not sealed: run `npm run migrations:seal` before the commit",
  ]);
});

describe("on a distributed database, a migration", () => {
  const commands = readdirSync("migrations").flatMap((file) =>
    commandsOnCitus(readFileSync(`migrations/${file}`, "utf8")),
  );

  it("creates a table that belongs to a merchant without foreign keys, and adds them when it is at its place", () => {
    const created = commands.filter((command) => /^create (unlogged )?table/.test(command));
    expect(created.length).toBeGreaterThan(50);
    const withKeys = created.filter((command) => /\breferences\b/.test(command));
    expect(withKeys.filter((command) => /^ {2}merchant_id /m.test(command))).toEqual([]);
    const distributed = commands.filter((command) => command.startsWith("select create_distributed_table"));
    expect(distributed.length).toBeGreaterThan(25);
    expect(created.filter((command) => !/constraint \w+ primary key/.test(command))).toEqual([]);
  });

  it("adds a column and its constraint in two commands", () => {
    const both = /\badd column\b.*\b(references|check|unique|primary key)\b/s;
    const actions = commands
      .filter((command) => command.startsWith("alter"))
      .flatMap((command) => splitAtTop(command, ","));
    expect(actions.filter((action) => both.test(action))).toEqual([]);
  });
});
