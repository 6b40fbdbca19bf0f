import { describe, expect, it } from "vitest";
import { ROLES } from "../../../src/audit/grant.ts";
import { isTokenText, makeToken, merchantsOfGrant } from "../../../src/people/token.ts";

describe("the text of a token", () => {
  it.each(ROLES)("shows the role %s, and a few characters to recognize it by", (role) => {
    const { token, prefix, hash } = makeToken(role);
    expect(isTokenText(token)).toBe(true);
    expect(prefix).toBe(token.slice(0, `pot_${role}_`.length + 6));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(makeToken(role).token).not.toBe(token);
  });

  it.each([
    ["another role", `pot_root_${"a".repeat(43)}`],
    ["a short one", `pot_support_${"a".repeat(42)}`],
    ["a long one", `pot_support_${"a".repeat(44)}`],
    ["other characters", `pot_support_${"+".repeat(43)}`],
    ["something before it", `x pot_support_${"a".repeat(43)}`],
    ["an API key", `pok_live_${"a".repeat(43)}`],
  ])("is not that of %s", (_title, text) => expect(isTokenText(text)).toBe(false));
});

describe("a token", () => {
  it("counts for the merchants of its grant, each once", () => {
    const connection = (merchantId: string, connectionId: string) => ({ merchantId, connectionId });
    const connections = [connection("m", "1"), connection("m", "2"), connection("n", "3")];
    expect(merchantsOfGrant({ role: "merchant", merchantIds: ["m", "n"] })).toEqual(["m", "n"]);
    expect(merchantsOfGrant({ role: "partner", connections })).toEqual(["m", "n"]);
    expect(merchantsOfGrant({ role: "warehouse", facilityIds: ["f"] })).toEqual([]);
  });
});
