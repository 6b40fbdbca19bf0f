import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findNeedless, findUnlisted, planIn, readList, widestPlans } from "../../../scripts/citus-plans.ts";

describe("an explanation by Citus", () => {
  it.each([
    ["on the coordinator", "Seq Scan on api_keys"],
    ["on one shard", "Custom Scan (Citus Adaptive)\n  Task Count: 1"],
    ["on several shards", "Custom Scan (Citus Adaptive)\n  Task Count: 4"],
    ["in steps", "Custom Scan (Citus Adaptive)\n  ->  Distributed Subplan 1_1\n  Task Count: 1"],
    [
      "in steps",
      "Custom Scan (Citus INSERT ... SELECT)\n  INSERT/SELECT method: pull to coordinator\n  Task Count: 1",
    ],
    ["on several shards", "->  Distributed Subplan 1_1\n  Task Count: 1\n  Task Count: 32"],
  ])("is of a statement that runs %s", (plan, explanation) => {
    expect(planIn(explanation)).toBe(plan);
  });
});

describe("the list of statements on several shards", () => {
  const plans = widestPlans([
    { name: "a", plan: "on one shard" },
    { name: "a", plan: "on several shards" },
    { name: "a", plan: "in steps" },
    { name: "b", plan: "in steps" },
    { name: "c", plan: "on one shard" },
  ]);

  it("is about the widest plan of each", () => {
    expect([...plans]).toEqual([
      ["a", "on several shards"],
      ["b", "in steps"],
    ]);
  });

  it("lacks statements that it does not name, or permits less", () => {
    const list = [{ name: "a", plan: "in steps", reason: "r" } as const];
    expect(findUnlisted(plans, list).map((fault) => fault.split(" ")[0])).toEqual(["a", "b"]);
  });

  it("needs no entry for a statement that is gone or runs on less", () => {
    const list = [
      { name: "a", plan: "on several shards", reason: "r" },
      { name: "b", plan: "on several shards", reason: "r" },
      { name: "c", plan: "in steps", reason: "r" },
    ] as const;
    expect(findNeedless(plans, list)).toHaveLength(2);
  });

  it("gives a reason for each statement, which the service has, and names it once", () => {
    const source = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join("src", path), "utf8"))
      .join("\n");
    const list = readList();
    const beginnings = [...source.matchAll(/\bname: `([\w-]+)/g)].map(([, beginning = ""]) => beginning);
    const isNamed = (name: string): boolean =>
      source.includes(`"${name}"`) || beginnings.some((beginning) => name.startsWith(beginning));
    expect(list.filter(({ name, reason }) => reason === "" || !isNamed(name))).toEqual([]);
    expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
  });
});
