import { describe, expect, it } from "vitest";
import {
  connectionScope,
  facilityScope,
  type Grant,
  merchantScope,
  orderScope,
  partlySeenMerchants,
  roleOnOrder,
  scopeIds,
  scopeWithin,
  seesConnection,
  seesFacility,
  seesMerchant,
} from "../../../src/audit/grant.ts";

const ALL: readonly Grant[] = [{ role: "operator" }, { role: "support" }, { role: "monitoring" }];
const wholeWarehouse: Grant = { role: "warehouse", facilityIds: null };
const depot: Grant = { role: "warehouse", facilityIds: ["f"] };
const merchant: Grant = { role: "merchant", merchantIds: ["a"] };
const partner: Grant = { role: "partner", connections: [{ merchantId: "b", connectionId: "2" }] };

const key = (merchantId: string, connectionId: string) => ({ merchantId, connectionId });
const order = (merchantId: string, connectionId: string, facilityId: string | null = null) => ({
  ...key(merchantId, connectionId),
  facilityId,
});

describe("the connections that a caller sees", () => {
  const scope = connectionScope([merchant, partner]);

  it("are two parameters of a statement: merchants, null for all of them, and single connections", () => {
    expect(scopeIds(scope)).toEqual([["a"], ["2"]]);
    expect(scopeIds(null)).toEqual([null, []]);
  });

  it("of one merchant are those that belong to it", () => {
    expect(scopeWithin(scope, null)).toBe(scope);
    expect(scopeWithin(scope, "a")).toEqual({ merchantIds: ["a"], connections: [] });
    expect(scopeWithin(scope, "b")).toEqual({ merchantIds: [], connections: [key("b", "2")] });
    expect(scopeWithin(scope, "z")).toEqual({ merchantIds: [], connections: [] });
    expect(scopeWithin(null, "z")).toEqual({ merchantIds: ["z"], connections: [] });
  });

  it("belong to merchants of which something is seen", () => {
    expect(partlySeenMerchants([merchant, partner])).toEqual(new Set(["a", "b"]));
    expect(partlySeenMerchants([merchant, depot])).toBeNull();
  });
});

describe("what a caller sees", () => {
  it.each(ALL)("is everything for %j, whatever else it has", (grant) => {
    for (const grants of [[grant], [merchant, grant], [depot, partner, grant]]) {
      expect(merchantScope(grants)).toBeNull();
      expect(connectionScope(grants)).toBeNull();
      expect(facilityScope(grants)).toBeNull();
      expect(orderScope(grants)).toBeNull();
      expect(seesMerchant(grants, "z")).toBe(true);
      expect(seesConnection(grants, key("z", "9"))).toBe(true);
      expect(seesFacility(grants, "z")).toBe(true);
      expect(roleOnOrder(grants, order("z", "9"))).not.toBeNull();
    }
  });

  it("is nothing without a grant", () => {
    expect(merchantScope([])).toEqual([]);
    expect(connectionScope([])).toEqual({ merchantIds: [], connections: [] });
    expect(facilityScope([])).toEqual([]);
    expect(orderScope([])).toEqual({ merchantIds: [], connections: [], facilityIds: [] });
    expect(roleOnOrder([], order("a", "1", "f"))).toBeNull();
  });

  it("is all that any of the grants shows, each thing once", () => {
    const grants = [merchant, merchant, partner, partner, depot, depot];
    expect(orderScope(grants)).toEqual({
      merchantIds: ["a"],
      connections: [key("b", "2")],
      facilityIds: ["f"],
    });
    expect(facilityScope(grants)).toEqual(["f"]);
    expect(connectionScope([merchant, partner])).toEqual({
      merchantIds: ["a"],
      connections: [key("b", "2")],
    });
    expect(merchantScope([merchant, partner])).toEqual(["a"]);
  });

  it("of a merchant: its settings, its connections and its orders, and no facility", () => {
    expect(seesMerchant([merchant], "a")).toBe(true);
    expect(seesMerchant([merchant], "b")).toBe(false);
    expect(seesConnection([merchant], key("a", "1"))).toBe(true);
    expect(seesConnection([merchant], key("b", "2"))).toBe(false);
    expect(seesFacility([merchant], "f")).toBe(false);
  });

  it("of a partner: its connection, and neither the merchant nor its other connections", () => {
    expect(seesConnection([partner], key("b", "2"))).toBe(true);
    expect(seesConnection([partner], key("b", "3"))).toBe(false);
    expect(seesMerchant([partner], "b")).toBe(false);
    expect(merchantScope([partner])).toEqual([]);
    expect(seesFacility([partner], "f")).toBe(false);
  });

  it("of a facility: the facility, and the products of all merchants, which it may hold", () => {
    expect(seesFacility([depot], "f")).toBe(true);
    expect(seesFacility([depot], "g")).toBe(false);
    expect(seesMerchant([depot], "z")).toBe(true);
    expect(seesConnection([depot], key("z", "9"))).toBe(true);
    expect(facilityScope([depot, wholeWarehouse])).toBeNull();
    expect(orderScope([depot, wholeWarehouse])).toBeNull();
  });
});

describe("the role in which a caller sees an order", () => {
  it.each<[grants: Grant[], seen: ReturnType<typeof order>, role: string | null]>([
    [[merchant], order("a", "1"), "merchant"],
    [[merchant], order("b", "2"), null],
    [[partner], order("b", "2", "f"), "partner"],
    [[partner], order("b", "3", "f"), null],
    [[depot], order("z", "9", "f"), "warehouse"],
    [[depot], order("z", "9", "g"), null],
    [[depot], order("z", "9", null), null],
    [[wholeWarehouse], order("z", "9", null), "warehouse"],
    [[depot, merchant], order("a", "1", "f"), "warehouse"],
    [[depot, merchant], order("a", "1", "g"), "merchant"],
    [[partner, merchant], order("b", "2"), "partner"],
    [[{ role: "support" }, merchant], order("a", "1"), "merchant"],
    [[{ role: "support" }, merchant], order("b", "2"), "support"],
    [[merchant, { role: "operator" }], order("a", "1"), "operator"],
  ])("%j and %j: %s", (grants, seen, role) => {
    expect(roleOnOrder(grants, seen)).toBe(role);
  });
});
