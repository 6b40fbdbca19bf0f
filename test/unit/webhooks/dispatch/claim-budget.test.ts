import { describe, expect, it } from "vitest";
import { ClaimBudget } from "../../../../src/webhooks/delivery/claimer.ts";
import { claims } from "../../../support/claims.ts";

describe("the budget of claims", () => {
  it("allows 16 384 claims, and another one when one of them is completed", () => {
    const budget = new ClaimBudget();
    const all = claims(16_383);
    budget.add(all, false);
    expect(budget.admitsMore).toBe(true);
    budget.add(claims(1), false);
    expect(budget.admitsMore).toBe(false);
    for (const claim of all.slice(0, 1)) budget.remove(claim);
    expect(budget.admitsMore).toBe(true);
  });

  it("allows failing endpoints 2 048 claims, whatever the healthy ones have", () => {
    const budget = new ClaimBudget();
    const [healthy, failing] = [claims(5_000), claims(2_048)];
    budget.add(healthy, false);
    budget.add(failing.slice(1), true);
    expect(budget.admitsFailing).toBe(true);
    budget.add(failing.slice(0, 1), true);
    expect(budget.admitsFailing).toBe(false);
    for (const claim of healthy) budget.remove(claim);
    expect([budget.admitsMore, budget.admitsFailing]).toEqual([true, false]);
    for (const claim of failing.slice(0, 1)) budget.remove(claim);
    expect(budget.admitsFailing).toBe(true);
  });

  it("leaves room to other connections, whatever one holds, and gives more to that one in batches", () => {
    const budget = new ClaimBudget();
    expect(budget.freeFor("connection")).toBe(14_563);
    const all = claims(14_563);
    budget.add(all, false);
    expect([budget.admits("connection"), budget.freeFor("connection")]).toEqual([false, 0]);
    expect([budget.admits("other"), budget.freeFor("other")]).toEqual([true, 1_618]);
    for (const claim of all.slice(0, 63)) budget.remove(claim);
    expect(budget.admits("connection")).toBe(false);
    for (const claim of all.slice(63, 65)) budget.remove(claim);
    expect(budget.admits("connection")).toBe(true);
  });

  it("counts the claims of failing endpoints in the whole as well", () => {
    const budget = new ClaimBudget();
    budget.add(claims(16_384), true);
    expect(budget.admitsMore).toBe(false);
  });
});
