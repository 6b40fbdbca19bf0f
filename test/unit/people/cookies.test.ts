import { describe, expect, it } from "vitest";
import { readCookie, setCookie } from "../../../src/people/cookies.ts";
import { readConfig } from "../../../src/platform/config.ts";

const behind = (backOfficeUrl: string) => ({ config: readConfig({ BACK_OFFICE_URL: backOfficeUrl }) });

describe("a cookie of the console", () => {
  const secured = behind("https://back-office.example.com");

  it.each(["session_token", "code", "passkey"])("%s belongs to the host alone with https", (name) => {
    const set = setCookie(secured, name, "value", 60_000);
    const [pair, ...attributes] = set.split("; ");
    expect(pair).toBe(`__Host-partner-orders.${name}=value`);
    // What browsers demand of the prefix (RFC 6265bis, section 4.1.3.2).
    expect(attributes).toEqual(expect.arrayContaining(["Path=/", "Secure", "HttpOnly", "SameSite=Lax"]));
    expect(set).not.toContain("Domain");
  });

  it("is not read by another name, which a sibling host could plant", () => {
    const planted = "partner-orders.session_token=x; __Secure-partner-orders.session_token=y";
    expect(readCookie(secured, planted, "session_token")).toBeNull();
    expect(readCookie(secured, `${planted}; __Host-partner-orders.session_token=z`, "session_token")).toBe(
      "z",
    );
  });

  it("has no prefix on a laptop, where browsers would reject it", () => {
    expect(setCookie(behind("http://localhost:8081"), "session_token", "value", 60_000)).toBe(
      "partner-orders.session_token=value; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
    );
  });
});
