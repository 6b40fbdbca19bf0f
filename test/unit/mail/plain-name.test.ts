import { describe, expect, it } from "vitest";
import { plainName } from "../../../src/mail/one-line.ts";

describe("a name in a mail of the service", () => {
  it.each([
    "Ada Lovelace",
    "Dr. Anna Müller-Lüdenscheidt",
    "J. R. R. Tolkien",
    "O’Brien & Sons (Leeds)",
    "李小龍",
    "shop 24",
  ])("is shown: %s", (name) => expect(plainName(name)).toBe(name));

  it.each([
    ["a link", "Your account is locked. Confirm at https://evil.example/confirm"],
    ["a link without a scheme", "Confirm at evil.example/confirm"],
    ["a domain", "Confirm at evil.example"],
    ["a host", "Confirm at www evil"],
    ["a mail address", "write to help@evil.example"],
    ["a telephone number", "Call +44 (0) 20 7946 0018"],
    ["a number without spaces", "Call 02079460018"],
    ["an address by numbers", "Open 192.0.2.17"],
    ["a call", "Your account is locked!"],
    ["another language's link", "Откройте пример.рф"],
    ["more than a name", "n".repeat(61)],
  ])("is left out if it is %s", (_what, name) => expect(plainName(name)).toBeNull());

  it("is one line, whatever it hides", () =>
    expect(plainName("Ada\r\nBcc  Lovelace\u202e")).toBe("Ada Bcc Lovelace"));
});
