import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { commandsOnCitus, splitCommands } from "../../../src/platform/database/commands-on-citus.ts";

it("runs each command alone, without comments", () => {
  const sql = `
    -- One; two.
    alter table a add column b text; -- Three; four.
    /* five; */ comment on column a.b is 'It''s; it -- is "so".';
    do $x$ begin perform 1; end $x$;
    update "a;b" set c = (select ';')`;
  expect(splitCommands(sql)).toEqual([
    "alter table a add column b text",
    `comment on column a.b is 'It''s; it -- is "so".'`,
    "do $x$ begin perform 1; end $x$",
    `update "a;b" set c = (select ';')`,
  ]);
  expect(splitCommands(" -- nothing\n ;; ")).toEqual([]);
});

it("moves a new table of a merchant to its node before it gets foreign keys, and logs it", () => {
  const sql = `
    create unlogged table boxes (
      merchant_id uuid not null, -- The owner, if (any.
      id uuid not null,
      constraint boxes_pkey primary key (merchant_id, id),
      constraint boxes_size check (size in (1, 2)),
      constraint boxes_order_fkey foreign key (merchant_id, id)
        references orders (merchant_id, id) on delete cascade
    ) with (fillfactor = 50);
    create index boxes_idx on boxes (id);`;
  const [create = "", ...rest] = commandsOnCitus(sql);
  expect(create.replace(/\s+/g, " ")).toBe(
    "create table boxes (merchant_id uuid not null, id uuid not null, " +
      "constraint boxes_pkey primary key (merchant_id, id), constraint boxes_size check (size in (1, 2))) with (fillfactor = 50)",
  );
  expect(rest.map((command) => command.replace(/\s+/g, " "))).toEqual([
    "select create_distributed_table('boxes', 'merchant_id', colocate_with => 'merchants')",
    "alter table boxes add constraint boxes_order_fkey foreign key (merchant_id, id) references orders (merchant_id, id) on delete cascade",
    "create index boxes_idx on boxes (id)",
  ]);
});

it("keeps partitions, copies facilities to each node, and leaves other tables on the coordinator", () => {
  const created = (name: string, key: string, end = "") =>
    commandsOnCitus(`create table ${name} (id uuid, constraint k primary key (${key}))${end};`);
  expect(created("a", "merchant_id, id", " partition by range (id)")).toEqual([
    "create table a (id uuid, constraint k primary key (merchant_id, id)) partition by range (id)",
    "select create_distributed_table('a', 'merchant_id', colocate_with => 'merchants')",
  ]);
  expect(created("facility_rates", "facility_id")[1]).toBe("select create_reference_table('facility_rates')");
  const local =
    "create table people (id uuid, constraint k primary key (id), constraint f foreign key (id) references p (id))";
  expect(commandsOnCitus(`${local};`)).toEqual([local]);
});

it("sends the calls of a function to the node of the merchant that is its first argument", () => {
  const body = "returns void language sql as $$ select 1; $$";
  const distributed =
    "select create_distributed_function('place'::regproc::regprocedure, 'of_merchant', colocate_with => 'merchants', force_delegation => true)";
  const parameters = "place(\n  of_merchant uuid,\n  amount      integer)";
  expect(commandsOnCitus(`create function ${parameters} ${body};`).slice(1)).toEqual([distributed]);
  expect(commandsOnCitus(`create or replace function ${parameters} ${body};`).slice(1)).toEqual([
    distributed,
  ]);
  expect(commandsOnCitus(`create function place(amount integer) ${body};`)).toHaveLength(1);
});

it("distributes each function of a merchant", async () => {
  const folder = new URL("../../../functions/", import.meta.url);
  for (const name of await readdir(folder)) {
    const sql = await readFile(new URL(name, folder), "utf8");
    const functions = sql.match(/\bfunction \w+\(\s*of_merchant\b/g) ?? [];
    const distributed = commandsOnCitus(sql).filter((command) =>
      command.includes("create_distributed_function"),
    );
    expect([name, distributed.length, functions.length]).toEqual([name, 1, 1]);
  }
});
