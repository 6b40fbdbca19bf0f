import { expect, it } from "vitest";
import {
  findChangedMigrations,
  findUnsealedMigrations,
  readManifest,
  readMigrations,
} from "../../scripts/seal-migrations.ts";

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
