import { expect, it } from "vitest";
import {
  hasDistributedTables,
  misplacedTables,
  type Table,
  tablePlacement,
  tablesToMove,
} from "../../../src/platform/database/distribute.ts";

const table = (name: string, keyColumn: string | null, more: Partial<Table> = {}): Table => ({
  name,
  isUnlogged: false,
  keyColumn,
  references: [],
  placement: "on the coordinator",
  ...more,
});
const names = (tables: readonly Table[]) => tables.map(({ name }) => name);

it("splits the merchants, and each table whose primary key begins with the merchant", () => {
  expect(tablePlacement(table("merchants", "id"))).toBe("by merchant");
  expect(tablePlacement(table("orders", "merchant_id"))).toBe("by merchant");
});

it("copies facilities and their rates to each node, and keeps all other tables on the coordinator", () => {
  expect(tablePlacement(table("facilities", "id"))).toBe("on each node");
  expect(tablePlacement(table("facility_rates", "facility_id"))).toBe("on each node");
  expect(tablePlacement(table("api_keys", "key_hash"))).toBe("on the coordinator");
  expect(tablePlacement(table("schema_migrations", null))).toBe("on the coordinator");
});

it("moves copies first, then the merchants, then each table after those that it references", () => {
  const tables = [
    table("attempts", "merchant_id"),
    table("order_lines", "merchant_id", { references: ["orders", "order_lines"] }),
    table("orders", "merchant_id", { references: ["connections", "facilities"] }),
    table("connections", "merchant_id", { references: ["merchants"] }),
    table("people", "id"),
    table("merchants", "id"),
    table("facilities", "id"),
  ];
  expect(names(tablesToMove(tables))).toEqual([
    "facilities",
    "merchants",
    "attempts",
    "connections",
    "orders",
    "order_lines",
  ]);
});

it("continues an interrupted run with the tables that are left", () => {
  const tables = [
    table("merchants", "id", { placement: "by merchant" }),
    table("orders", "merchant_id", { references: ["connections"] }),
    table("connections", "merchant_id", { placement: "by merchant", references: ["merchants"] }),
  ];
  expect(hasDistributedTables(tables)).toBe(true);
  expect(names(tablesToMove(tables))).toEqual(["orders"]);
  expect(hasDistributedTables([table("orders", "merchant_id")])).toBe(false);
});

it("finds tables that are elsewhere, also those that should not have left the coordinator", () => {
  const tables = [
    table("merchants", "id", { placement: "by merchant" }),
    table("orders", "merchant_id", { placement: "elsewhere" }),
    table("people", "id", { placement: "on each node" }),
  ];
  expect(names(misplacedTables(tables))).toEqual(["orders", "people"]);
});
