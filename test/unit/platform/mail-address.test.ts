import { describe, expect, it } from "vitest";
import { normalEmail } from "../../../src/people/person.ts";
import { isMailAddress, normalMailAddress } from "../../../src/platform/mail-address.ts";

// See docs/design/people.md, "Mail addresses".

describe("a mail address", () => {
  it.each([
    "ada@example.com",
    "ada+shop@mail.example.co.uk",
    "o'connor@example.com",
    "x@münchen.example",
    "x@xn--mnchen-3ya.example",
    "müller@münchen.example",
    "用户@例え.jp",
    "почта@почта.рф",
  ])("can be %s", (text) => expect(isMailAddress(text)).toBe(true));

  it.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "ada@exam ple.com",
    "ada lovelace@example.com",
    "ada@example..com",
    ".ada@example.com",
    "ada@example.com, bob@example.com",
    "Ada <ada@example.com>",
    "ada@-example.com",
    "ada\n@example.com",
    "ada@example.com\nx",
    "ada@example.com\r\n",
    "ada@[127.0.0.1]",
    `${"ü".repeat(33)}@example.com`,
    `a@${"münchen.".repeat(30)}example`,
  ])("cannot be %j", (text) => expect(isMailAddress(text)).toBe(false));
});

describe("the stored form of a mail address", () => {
  it.each([
    ["x@xn--mnchen-3ya.example", "x@münchen.example"],
    ["x@MÜNCHEN.Example", "x@münchen.example"],
    ["x@mu\u0308nchen.example", "x@münchen.example"],
    [" Ada@Example.COM ", "Ada@example.com"],
    ["x@例え.jp", "x@例え.jp"],
    ["x@почта.рф", "x@почта.рф"],
    // Letters that look like Latin ones.
    ["x@аррӏе.com", "x@xn--80ak6aa92e.com"],
    ["x@pаypal.com", "x@xn--pypal-4ve.com"],
    ["no address", "no address"],
  ])("of %j is %j", (text, stored) => {
    expect(normalMailAddress(text)).toBe(stored);
    expect(normalMailAddress(stored)).toBe(stored);
  });

  it("of a person has no case", () => {
    expect(normalEmail("MÜLLER@xn--mnchen-3ya.example")).toBe("müller@münchen.example");
    expect(normalEmail("Ada@Example.com")).toBe("ada@example.com");
  });
});
