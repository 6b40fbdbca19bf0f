import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsOnCitus, splitAtTop } from "../../src/platform/database/commands-on-citus.ts";

/** The first set of migrations creates the tables. Later ones change tables that may be large. */
const FIRST_SET_MAX = "0010";
/** Tables with few rows: a lock on them is short. */
const SMALL = [
  "api_keys",
  "back_office_tokens",
  "connections",
  "saved_views",
  "webhook_endpoints",
  "webhook_resends",
];

/** The tables of earlier migrations to which nothing can be written while an index is built or a constraint is checked. */
function tablesLockedBy(sql: string): string[] {
  const commands = sql.replace(/--.*$/gm, "").split(";");
  const created = commands.map((command) => /^\s*create (?:unlogged )?table (\w+)/.exec(command)?.[1]);
  const locked = commands.flatMap((command) => {
    const indexed = /^\s*create (?:unique )?index \w+ on (\w+)/.exec(command)?.[1];
    const altered = /^\s*alter table (\w+)/.exec(command)?.[1];
    const isChecked = /\badd constraint\b|\bvalidate constraint\b|\bset not null\b/.test(command);
    return [indexed, isChecked && !/\bnot valid\b/.test(command) ? altered : undefined];
  });
  return [...new Set(locked)].filter((table) => table !== undefined && !created.includes(table)) as string[];
}

it("operators read which migrations keep a large table from being written", () => {
  const page = readFileSync("docs/upgrade.md", "utf8");
  const rows = [...page.matchAll(/^\| ([\d, ]+) \| `(\w+)` \|/gm)];
  const documented = rows.flatMap(([, numbers = "", table]) =>
    numbers.split(", ").map((number) => `${number} ${table}`),
  );
  const locking = readdirSync("migrations")
    .filter((file) => file.slice(0, 4) > FIRST_SET_MAX)
    .flatMap((file) =>
      tablesLockedBy(readFileSync(`migrations/${file}`, "utf8"))
        .filter((table) => !SMALL.includes(table))
        .map((table) => `${file.slice(0, 4)} ${table}`),
    );
  expect(documented.toSorted()).toEqual(locking.toSorted());
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
