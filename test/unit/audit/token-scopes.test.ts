import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ROLES } from "../../../src/audit/grant.ts";
import { NAMED_ONLY, namedScopes, SCOPES, scopesOfRole } from "../../../src/audit/scope.ts";
import { outOfScope, rolesOf, within } from "../../../src/back-office/access.ts";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";

const rowsOf = (scope: string) => backOfficeRoutes.filter((row) => row.scope === scope);

describe("the scopes of the route table", () => {
  it("are one for every route, which reads with a scope to read and changes with one to write", () => {
    for (const { operationId, method, scope } of backOfficeRoutes) {
      if (operationId === "getMe") expect(scope).toBe("every-token");
      else {
        expect(SCOPES, operationId).toContain(scope);
        expect(scope, operationId).toMatch(method === "GET" ? /:read$/ : /:write$/);
      }
    }
    for (const scope of SCOPES) expect(rowsOf(scope).length, scope).toBeGreaterThan(0);
  });

  it("are open to the roles that their routes admit, and to no others", () => {
    for (const scope of SCOPES) {
      const admitted = new Set(rowsOf(scope).flatMap(rolesOf));
      const roles = ROLES.filter((role) => scopesOfRole(role).includes(scope));
      expect(roles, scope).toEqual(ROLES.filter((role) => admitted.has(role)));
    }
  });

  it("are in the description of every route, and in no other", () => {
    const { paths } = JSON.parse(readFileSync("openapi/back-office.json", "utf8"));
    const described = Object.values<Record<string, { operationId: string; "x-scope"?: string }>>(paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ operationId, "x-scope": scope }) => (scope === undefined ? [] : [[operationId, scope]]));
    expect(described).toEqual(
      expect.arrayContaining(backOfficeRoutes.map(({ operationId, scope }) => [operationId, scope])),
    );
    expect(described).toHaveLength(backOfficeRoutes.length);
  });

  it("cannot be left out: a group that only reads gets no row that changes something, and a row without one is for no token", () => {
    const [row] = backOfficeRoutes.filter(({ operationId }) => operationId === "shipOrder");
    if (row === undefined) throw new Error("no row");
    const { scope: _, ...bare } = row;
    expect(() => within("audit", [bare])).toThrow("shipOrder needs a scope");
    const caller = { type: "token", id: null, name: "T", grants: [{ role: "operator" }] } as const;
    expect(outOfScope({ ...caller, scopes: SCOPES }, bare)?.code).toBe("forbidden");
    expect(outOfScope(caller, bare)).toBeNull();
  });
});

describe("the scopes that must be named", () => {
  /** What issues credentials, or lets others have them. */
  const CREDENTIALS = [
    "createKey",
    "rotateKey",
    "createToken",
    "rotateToken",
    "createWebhookEndpoint",
    "updateWebhookEndpoint",
    "rotateWebhookSecret",
    "invitePerson",
    "updatePerson",
    "setGrants",
    "resendInvitation",
    "makeSignInLink",
  ];

  /** What moves money, or sets how much a merchant may owe. */
  const MONEY = ["refundOrder", "recordAccountPayment", "setStripeMethod", "updateMerchant"];

  it("are those of the routes that issue credentials, and of those that move money", () => {
    for (const operationId of [...CREDENTIALS, ...MONEY]) {
      const row = backOfficeRoutes.find((each) => each.operationId === operationId);
      expect(NAMED_ONLY, operationId).toContain(row?.scope);
    }
  });

  it("are in no default", () => {
    for (const role of ROLES) {
      const byDefault = namedScopes(role, undefined);
      expect(byDefault.length).toBeGreaterThan(0);
      expect(byDefault.filter((scope) => NAMED_ONLY.includes(scope))).toEqual([]);
      expect([...byDefault, ...NAMED_ONLY].sort()).toEqual(
        expect.arrayContaining([...scopesOfRole(role)].sort()),
      );
    }
  });
});

describe("the names of several scopes", () => {
  it("are `*:read` for what reads, and `*` for all, of the role alone", () => {
    expect(namedScopes("warehouse", ["*:read"])).toEqual(
      scopesOfRole("warehouse").filter((scope) => scope.endsWith(":read")),
    );
    expect(namedScopes("merchant", ["*"])).toEqual(scopesOfRole("merchant"));
    expect(namedScopes("merchant", ["catalog:write", "*:read", "catalog:write"])).toEqual(
      scopesOfRole("merchant").filter((scope) => scope.endsWith(":read") || scope === "catalog:write"),
    );
  });
});
