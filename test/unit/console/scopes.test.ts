import { describe, expect, it } from "vitest";
import { ROLES } from "../../../src/audit/grant.ts";
import * as service from "../../../src/audit/scope.ts";
import {
  bySubject,
  SCOPE_CHOICES,
  type ScopeChoice,
  SENSITIVE,
  scopesInShort,
  scopesOfRole,
  toNamedScopes,
} from "../../../web/src/pages/people/scopes.ts";

describe("the scopes that the console offers", () => {
  it.each(ROLES)("are those of the service for the role %s, in its order", (role) => {
    expect(scopesOfRole(role)).toEqual(service.scopesOfRole(role));
  });

  it("are marked as sensitive where the service wants them by name", () => {
    expect(SENSITIVE).toEqual(service.NAMED_ONLY);
  });

  it.each(ROLES)("have for the role %s their reading one first, so that the boxes are in columns", (role) => {
    for (const [subject, scopes] of bySubject(scopesOfRole(role)))
      expect(scopes[0], subject).toBe(`${subject}:read`);
  });
});

describe("the sets of scopes", () => {
  const given = (choice: ScopeChoice) =>
    service.namedScopes("merchant", toNamedScopes(choice, ["catalog:write"]));

  it.each(SCOPE_CHOICES)("that are chosen as %s are recognised in the list", (choice) => {
    const short = choice === "single" ? "some" : choice;
    expect(scopesInShort("merchant", given(choice))).toBe(short);
  });

  it("differ from all of the role, and from as many other ones", () => {
    const all = service.scopesOfRole("merchant");
    expect(scopesInShort("merchant", all)).toBe("all");
    expect(scopesInShort("merchant", [...given("reading").slice(1), "keys:write"])).toBe("some");
  });

  it("of a role that only reads are called so", () => {
    expect(scopesInShort("monitoring", service.scopesOfRole("monitoring"))).toBe("reading");
  });
});
