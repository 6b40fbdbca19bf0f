import { describe, expect, it } from "vitest";
import { OrderRequestSchema } from "../../../src/orders/creation/order-request.ts";
import { sentenceOf } from "../../../src/platform/wire/rules.ts";
import { createCheck } from "../../../src/platform/wire/validation.ts";

const check = createCheck(OrderRequestSchema);
const PRODUCT = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e5f";
const ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James's Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
};
const aLine = (fields: object = {}) => ({ productId: PRODUCT, quantity: 1, ...fields });
const aRequest = (fields: object = {}) => ({ shippingAddress: ADDRESS, lines: [aLine()], ...fields });
const lines = (count: number) => Array.from({ length: count }, () => aLine());
const errorsOf = (fields: object) =>
  check(aRequest(fields)).map((error) => ("pointer" in error ? error.pointer : error));

/** Specification, part 8, and docs/design/creating-orders.md, "Limits of a request": each limit below, at and above. */
describe("limits of an order request", () => {
  it.each<[string, string, unknown[], unknown[]]>([
    ["lines", "/lines", [lines(1), lines(99), lines(100)], [[], lines(101)]],
    [
      "externalOrderId",
      "/externalOrderId",
      ["a", "a".repeat(200), "🦊".repeat(200)],
      ["a".repeat(201), "🦊".repeat(201)],
    ],
    ["testMode", "/testMode", [true, false], ["true", 1, ""]],
  ])("%s", (field, pointer, accepted, rejected) => {
    for (const value of accepted) expect(errorsOf({ [field]: value })).toEqual([]);
    for (const value of rejected) expect(errorsOf({ [field]: value })).toEqual([pointer]);
  });

  it.each<[string, unknown[], unknown[]]>([
    ["quantity", [1, 2, 99_999, 100_000], [0, -1, 100_001, 1.5, "1", null]],
    ["productId", [PRODUCT, PRODUCT.toUpperCase()], ["", `urn:uuid:${PRODUCT}`, PRODUCT.slice(1), null]],
  ])("%s of a line", (field, accepted, rejected) => {
    for (const value of accepted) expect(errorsOf({ lines: [aLine({ [field]: value })] })).toEqual([]);
    for (const value of rejected)
      expect(errorsOf({ lines: [aLine(), aLine({ [field]: value })] })).toEqual([`/lines/1/${field}`]);
  });

  const texts = ["firstName", "lastName", "address1", "city", "zip"];
  const optionalTexts = ["stateCode", "address2", "company", "phone", "name"];
  it.each([...texts, ...optionalTexts])("%s of the address has 1 to 255 characters", (field) => {
    const errors = (value: unknown) => errorsOf({ shippingAddress: { ...ADDRESS, [field]: value } });
    for (const value of ["a", "a".repeat(255), "é🦊".repeat(127)]) expect(errors(value)).toEqual([]);
    for (const value of ["a".repeat(256), "a\u0000", "\ud800", 1])
      expect(errors(value)).toEqual([`/shippingAddress/${field}`]);
    for (const nothing of ["", " ", null])
      expect(errors(nothing)).toEqual(texts.includes(field) ? [`/shippingAddress/${field}`] : []);
  });

  it("the country is two letters, in either case; whether it is assigned is checked later", () => {
    const errors = (countryCode: unknown) => errorsOf({ shippingAddress: { ...ADDRESS, countryCode } });
    for (const value of ["GB", "gb", "Gb", "ZZ"]) expect(errors(value)).toEqual([]);
    for (const value of ["", "G", "GBR", "G1", "ÄÖ", "GB\n", " G", null])
      expect(errors(value)).toEqual(["/shippingAddress/countryCode"]);
  });

  it.each([...texts, "countryCode"])("%s of the address is required", (field) => {
    const { [field as "zip"]: _, ...shippingAddress } = ADDRESS;
    expect(errorsOf({ shippingAddress })).toEqual([`/shippingAddress/${field}`]);
  });

  it.each(["\ud800", "a\u0000b", ".", ".."])("externalOrderId %j cannot be a path's", (externalOrderId) => {
    expect(errorsOf({ externalOrderId })).toEqual(["/externalOrderId"]);
  });

  it("note has 1 to 1 000 characters", () => {
    for (const note of ["a", "a".repeat(1_000), "🦊".repeat(1_000)]) expect(errorsOf({ note })).toEqual([]);
    for (const note of ["a".repeat(1_001), "a\u0000", "\ud800", 1, {}])
      expect(errorsOf({ note })).toEqual(["/note"]);
  });

  it("unknown fields are ignored, and all errors are reported at once", () => {
    expect(errorsOf({ extra: null, lines: [aLine({ extra: null })] })).toEqual([]);
    expect(errorsOf({ testMode: "yes", lines: [{}], shippingAddress: undefined })).toHaveLength(4);
  });
});

/** An object whose keys count from 1. */
const keys = (count: number, value: unknown = "") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index + 1}`, value]));

/** See docs/design/creating-orders.md, "Note and metadata". */
describe("metadata of an order request", () => {
  const errors = (metadata: unknown) => check(aRequest({ metadata }));

  it("has at most 20 keys of 1 to 40 characters, with texts of at most 500", () => {
    const text = "🦊".repeat(500);
    for (const metadata of [{}, keys(19), keys(20), { ["🦊".repeat(40)]: text }, { " a": "" }])
      expect(errors(metadata)).toEqual([]);
    expect(errors(keys(21))).toEqual([{ pointer: "/metadata", rule: "max_keys", max: 20 }]);
    expect(errors({ a: `${text}.` })).toEqual([{ pointer: "/metadata/a", rule: "max_length", max: 500 }]);
  });

  it.each([
    ["", "has a key that must have at least 1 character"],
    [" ", "has a key that must not be blank: it has no character that can be seen"],
    ["k".repeat(41), "has a key that must have at most 40 characters"],
    ["\u0000", "has a key that must not contain NUL characters or unpaired surrogates"],
  ])("rejects the key %j, and names the object", (key, detail) => {
    const found = errors({ [key]: "value" });
    expect(found).toMatchObject([{ pointer: "/metadata", of: "key" }]);
    expect(found.map(sentenceOf)).toEqual([detail]);
  });

  it.each([[], "text", 1])("must be an object: %j", (metadata) => {
    expect(errors(metadata)).toEqual([{ pointer: "/metadata", rule: "type", types: ["object"] }]);
  });

  it.each([1, true, {}, ["text"], "\ud800"])("has no value but text: %j", (value) => {
    expect(errors({ a: "text", b: value }).map((error) => ("pointer" in error ? error.pointer : ""))).toEqual(
      ["/metadata/b"],
    );
  });

  it("is validated up to its limit only, so a body full of keys costs no more", () => {
    expect(errors(keys(30_000, 1))).toHaveLength(22); // One for the number of keys, and one for each of 21 values.
  });
});
