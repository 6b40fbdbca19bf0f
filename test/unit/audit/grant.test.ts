import { describe, expect, it } from "vitest";
import { type Grant, grantsWith, isWithin, ROLES, strongestRole } from "../../../src/audit/grant.ts";

const operator: Grant = { role: "operator" };
const support: Grant = { role: "support" };
const monitoring: Grant = { role: "monitoring" };
const allFacilities: Grant = { role: "warehouse", facilityIds: null };
const facilities = (...facilityIds: string[]): Grant => ({ role: "warehouse", facilityIds });
const merchants = (...merchantIds: string[]): Grant => ({ role: "merchant", merchantIds });
/** Connections written as `merchant/connection`. */
const partner = (...keys: string[]): Grant => ({
  role: "partner",
  connections: keys.map((key) => {
    const [merchantId = "", connectionId = ""] = key.split("/");
    return { merchantId, connectionId };
  }),
});

describe("the grants that count for a route", () => {
  it("are those with a role that it admits", () => {
    const grants = [operator, merchants("a"), partner("a/1"), merchants("b")];
    expect(grantsWith(grants, ["merchant", "partner"])).toEqual(grants.slice(1));
    expect(grantsWith(grants, ["warehouse"])).toEqual([]);
    expect(grantsWith([], ROLES)).toEqual([]);
  });
});

describe("the strongest role", () => {
  it("is that with the most rights, in whatever order the grants are", () => {
    expect(strongestRole([monitoring, support, partner(), merchants(), allFacilities, operator])).toBe(
      "operator",
    );
    expect(strongestRole([partner("a/1"), merchants("a")])).toBe("merchant");
    expect(strongestRole([support, partner("a/1")])).toBe("partner");
    expect(strongestRole([])).toBeNull();
  });
});

describe("a grant within the rights of its giver", () => {
  const every = [
    operator,
    support,
    monitoring,
    allFacilities,
    facilities("f"),
    merchants("a"),
    partner("a/1"),
  ];

  it("is everything for the operator, and nothing for who only reads or has no grant", () => {
    for (const grant of every) {
      expect(isWithin(grant, [operator])).toBe(true);
      expect(isWithin(grant, [merchants("z"), operator])).toBe(true);
      for (const own of [[], [support], [monitoring]]) expect(isWithin(grant, own)).toBe(false);
    }
  });

  it.each<[own: Grant[], grant: Grant, within: boolean]>([
    [[merchants("a")], merchants("a"), true],
    [[merchants("a", "b")], merchants("b"), true],
    [[merchants("a")], merchants("a", "b"), false],
    [[merchants("a"), merchants("b")], merchants("a", "b"), true],
    [[merchants("a")], partner("a/1"), true],
    [[merchants("a")], partner("a/1", "b/2"), false],
    [[merchants("a"), partner("b/2")], partner("a/1", "b/2"), true],
    [[merchants("a"), partner("b/2")], partner("b/3"), false],
    [[merchants("a"), partner("b/2")], merchants("b"), false],
    [[partner("a/1")], partner("a/1"), true],
    [[partner("a/1")], partner("a/2"), false],
    [[partner("a/1")], merchants("a"), false],
    [[allFacilities], allFacilities, true],
    [[allFacilities], facilities("f", "g"), true],
    [[facilities("f")], facilities("f"), true],
    [[facilities("f")], facilities("f", "g"), false],
    [[facilities("f"), facilities("g")], facilities("f", "g"), true],
    [[facilities("f")], allFacilities, false],
    [[allFacilities], merchants("a"), false],
    [[merchants("a")], facilities("f"), false],
    [[merchants("a"), allFacilities], operator, false],
    [[merchants("a")], support, false],
    [[merchants("a")], monitoring, false],
  ])("of %j: %j is %s", (own, grant, within) => {
    expect(isWithin(grant, own)).toBe(within);
  });
});
