import { describe, expect, it } from "vitest";
import { endOfOverlap, isValid, renewedExpiry, whyNotRotatable } from "../../../src/merchants/api-key.ts";

const at = (text: string): Date => new Date(text);
const NOON = at("2026-03-02T12:00:00.000Z");
const createdAt = at("2026-03-01T12:00:00Z");

describe("a key or a token", () => {
  it.each([
    ["never expires", null, null, true],
    ["expires later", at("2026-03-02T12:00:00.001Z"), null, true],
    ["expires now", NOON, null, false],
    ["was revoked", null, at("2026-03-01T00:00:00Z"), false],
    ["was revoked before it expires", at("2027-01-01T00:00:00Z"), NOON, false],
  ])("that %s: valid or not", (_title, expiresAt, revokedAt, valid) => {
    expect(isValid({ expiresAt, revokedAt }, NOON)).toBe(valid);
  });

  it("is renewed for as long as it was given, and at most until the year 9999", () => {
    expect(renewedExpiry({ createdAt, expiresAt: null }, NOON)).toBeNull();
    const expiresAt = at("2026-03-08T12:00:00Z");
    expect(renewedExpiry({ createdAt, expiresAt }, NOON)).toEqual(at("2026-03-09T12:00:00Z"));
    const latest = at("9999-12-31T23:59:59.999Z");
    expect(renewedExpiry({ createdAt, expiresAt: latest }, NOON)).toEqual(latest);
  });

  it("stays valid for the overlap after it was replaced, and never longer than before", () => {
    const overlapEnd = at("2026-03-02T13:30:00Z");
    expect(endOfOverlap({ expiresAt: null }, 1.5, NOON)).toEqual(overlapEnd);
    expect(endOfOverlap({ expiresAt: at("2026-03-02T14:00:00Z") }, 1.5, NOON)).toEqual(overlapEnd);
    const earlier = at("2026-03-02T13:00:00Z");
    expect(endOfOverlap({ expiresAt: earlier }, 1.5, NOON)).toEqual(earlier);
    expect(endOfOverlap({ expiresAt: null }, 0, NOON)).toEqual(NOON);
  });

  it.each([
    ["nothing", {}, null],
    [
      "its revocation, also if it has expired and was replaced",
      { revokedAt: NOON, expiresAt: NOON, replacedById: "1" },
      "revoked",
    ],
    ["its end, also if it was replaced", { expiresAt: NOON, replacedById: "1" }, "expired"],
    ["another rotation", { replacedById: "1" }, "replaced"],
  ])("is kept from a rotation by %s", (_title, fields, reason) => {
    const given = { createdAt, expiresAt: null, revokedAt: null, replacedById: null, ...fields };
    expect(whyNotRotatable(given, NOON)).toBe(reason);
  });
});
