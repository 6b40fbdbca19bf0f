import { describe, expect, it } from "vitest";
import { type PostalAddress, postalLines } from "../../../web/src/text/postal.ts";

// See docs/design/console.md, "Addresses".

const to = (fields: Partial<PostalAddress>): PostalAddress => ({
  name: "Ada Lovelace",
  company: null,
  address1: "12 Main Street",
  address2: null,
  city: "Town",
  zip: "12345",
  stateCode: null,
  countryCode: "DE",
  ...fields,
});
const text = (fields: Partial<PostalAddress>): string[] =>
  postalLines(to(fields)).map((parts) => parts.join(" "));

describe("an address", () => {
  it.each([
    ["DE", { city: "Berlin", zip: "10115" }, ["10115 Berlin"]],
    ["FR", { city: "Paris", zip: "75001" }, ["75001 Paris"]],
    ["US", { city: "San Francisco", stateCode: "CA", zip: "94105" }, ["San Francisco, CA 94105"]],
    ["US", { city: "San Francisco", zip: "94105" }, ["San Francisco, 94105"]],
    ["US", { city: "San Francisco", stateCode: "CA", zip: "-" }, ["San Francisco, CA"]],
    ["CA", { city: "Toronto", stateCode: "ON", zip: "M5V 2T6" }, ["Toronto ON M5V 2T6"]],
    ["AU", { city: "Sydney", stateCode: "NSW", zip: "2000" }, ["Sydney NSW 2000"]],
    ["GB", { city: "London", zip: "SW1A 1AA" }, ["London", "SW1A 1AA"]],
    [
      "IE",
      { city: "Dublin", stateCode: "Co. Dublin", zip: "D02 X285" },
      ["Dublin", "Co. Dublin", "D02 X285"],
    ],
    ["IT", { city: "Milano", stateCode: "MI", zip: "20121" }, ["20121 Milano MI"]],
    ["BR", { city: "São Paulo", stateCode: "SP", zip: "01310-100" }, ["São Paulo-SP", "01310-100"]],
    ["BR", { city: "São Paulo", zip: "01310-100" }, ["São Paulo", "01310-100"]],
    ["MX", { city: "Oaxaca", stateCode: "OAX", zip: "68000" }, ["68000 Oaxaca, OAX"]],
    ["IN", { city: "Mumbai", stateCode: "MH", zip: "400001" }, ["Mumbai 400001", "MH"]],
    ["JP", { city: "Shibuya", stateCode: "Tokyo", zip: "150-0002" }, ["Shibuya, Tokyo", "150-0002"]],
    ["AE", { city: "Dubai", zip: "-" }, ["Dubai"]],
    ["HK", { city: "Kowloon", zip: "999077" }, ["Kowloon", "999077"]],
    ["XK", { city: "Prishtina", zip: "10000", stateCode: "P" }, ["10000 Prishtina", "P"]],
  ])("in %s with %o ends with %o", (countryCode, fields, expected) => {
    expect(text({ countryCode, ...fields })).toEqual(["Ada Lovelace", "12 Main Street", ...expected]);
  });

  it("in Japanese begins with the postal code and ends with the person", () => {
    const fields = { name: "田中 太郎", company: "株式会社田中", address1: "渋谷2-1-1", city: "渋谷区" };
    expect(text({ ...fields, stateCode: "東京都", zip: "150-0002", countryCode: "JP" })).toEqual([
      "〒150-0002",
      "東京都 渋谷区",
      "渋谷2-1-1",
      "株式会社田中",
      "田中 太郎",
    ]);
  });

  it("in Hungary has the street after the city", () => {
    expect(text({ city: "Budapest", zip: "1055", countryCode: "HU" })).toEqual([
      "Ada Lovelace",
      "Budapest",
      "12 Main Street",
      "1055",
    ]);
  });

  it("never prints what stands for nothing", () => {
    expect(text({ name: "-", zip: "-", stateCode: " – ", city: "Dubai", countryCode: "AE" })).toEqual([
      "12 Main Street",
      "Dubai",
    ]);
  });

  it("loses no field in any country", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const codes = [...letters].flatMap((one) => [...letters].map((other) => one + other));
    for (const city of ["Town", "東京"])
      for (const countryCode of codes) {
        const fields = to({ company: "Firm", address2: "Flat 2", stateCode: "State", city, countryCode });
        const shown = postalLines(fields).flat().join(" ");
        for (const field of ["Ada Lovelace", "Firm", "12 Main Street", "Flat 2", city, "12345", "State"])
          expect(shown, countryCode).toContain(field);
      }
  });
});
