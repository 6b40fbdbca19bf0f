import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOrderRequest, normalizeOrderRequest } from "../../../src/orders/creation/order-request.ts";

type Body = Parameters<typeof normalizeOrderRequest>[0];

const PRODUCT = "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e5f";
const ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James's Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
};
const FULL_ADDRESS = {
  ...ADDRESS,
  stateCode: "LND",
  address2: "Floor 2",
  company: "Analytical Engines",
  phone: "+44 20 7946 0000",
  name: "Countess of Lovelace",
};
const REQUEST: Body = { shippingAddress: ADDRESS, lines: [{ productId: PRODUCT, quantity: 1 }] };
const FULL: Body = {
  shippingAddress: FULL_ADDRESS,
  lines: [
    { productId: PRODUCT, quantity: 3 },
    { productId: "0196a3e1-7c1e-7b52-9f4e-3a1b2c3d4e60", quantity: 100_000 },
  ],
  externalOrderId: "PO-1001",
  testMode: true,
};
const NOTED: Body = { ...FULL, note: "Ring twice.", metadata: { b: "2", a: "1", "10": "x", "9": "y" } };

const hashOf = (body: Body): string => hashOrderRequest(normalizeOrderRequest(body)).toString("hex");

describe("the normal form of a request", () => {
  it("has null for each optional field that is absent, and is a real order's", () => {
    expect(normalizeOrderRequest(REQUEST)).toEqual({
      shippingAddress: {
        ...ADDRESS,
        stateCode: null,
        address2: null,
        company: null,
        phone: null,
        name: null,
      },
      lines: REQUEST.lines,
      externalOrderId: null,
      testMode: false,
      note: null,
      metadata: {},
    });
  });

  it("has each field that was sent", () => {
    expect(normalizeOrderRequest(NOTED)).toEqual(NOTED);
  });

  it("has its metadata sorted by key", () => {
    const { metadata } = normalizeOrderRequest({ ...FULL, metadata: { zebra: "z", Ape: "a", lion: "l" } });
    expect(Object.keys(metadata)).toEqual(["Ape", "lion", "zebra"]);
  });

  it("has the country in upper case, product ids in lower case, and all other text as it was sent", () => {
    const shippingAddress = { ...FULL_ADDRESS, countryCode: "gB", stateCode: "lnd" };
    const lines = [{ productId: PRODUCT.toUpperCase(), quantity: 1 }];
    const normal = normalizeOrderRequest({ ...FULL, shippingAddress, lines });
    expect(normal.shippingAddress).toEqual({ ...shippingAddress, countryCode: "GB" });
    expect(normal.lines).toEqual([{ productId: PRODUCT, quantity: 1 }]);
  });

  it("has no unknown fields", () => {
    const extra = { extra: 1 };
    const body = {
      ...FULL,
      ...extra,
      shippingAddress: { ...FULL_ADDRESS, ...extra },
      lines: FULL.lines.map((line) => ({ ...line, ...extra })),
    };
    expect(normalizeOrderRequest(body)).toEqual({ ...FULL, note: null, metadata: {} });
  });
});

/** Hashes are stored with orders: if one of these changes, retries that span a release are rejected. */
describe("the hash of a known request never changes", () => {
  it.each<[string, Body, string]>([
    ["the required fields", REQUEST, "de44bbb1e88bfd0feb1b67e975428eba06f6ddc2fecd21d130e84cb6de5cd1dd"],
    ["every field", FULL, "17dceb38f3b136812aa39da39311a2f2f86c4600dbd89ad3531877ba267b0010"],
    [
      "a test order",
      { ...REQUEST, testMode: true },
      "1aea2275ba6c1c6c96738fa8c5c13f7ba2328885db9a53e520c8b83c308e73b3",
    ],
    [
      "text outside ASCII",
      { ...REQUEST, externalOrderId: "Größe 7 🦊 \u2028" },
      "a85ff8f72b6a9a525d49466015290aa737e9818147bf1a96f3962f43851d91d2",
    ],
    [
      "a note",
      { ...REQUEST, note: "Ring twice." },
      "04677e2579e38e77715379d6b1560ae034c58b9bcbc0c8575bd2301eb266ed9e",
    ],
    [
      "metadata",
      { ...REQUEST, metadata: { b: "2", a: "1" } },
      "f394c1f0e0ad249bad96c2c63d0c372ff51eaecd7fa0f0283d3774dd09eb36e5",
    ],
    [
      "every field, with a note and metadata",
      NOTED,
      "7b74a68e1432781380d302863806b998ff72f0576455281fc50a4403d0dd2f2b",
    ],
  ])("%s", (_, body, hash) => {
    expect(hashOf(body)).toBe(hash);
  });
});

/** What a later version may add to a request, at each level of it. */
describe("a field that is added later", () => {
  const normal = normalizeOrderRequest(FULL);
  const [line, ...lines] = normal.lines;
  const hash = (request: object) => hashOrderRequest({ ...normal, ...request }).toString("hex");
  const withField = (value: unknown): Record<string, string> => ({
    request: hash({ later: value }),
    address: hash({ shippingAddress: { ...normal.shippingAddress, later: value } }),
    line: hash({ lines: [{ ...line, later: value }, ...lines] }),
  });

  it.each([undefined, null, {}])("does not change the hash of a request without it: %s", (absent) => {
    const unchanged = hashOf(FULL);
    expect(withField(absent)).toEqual({ request: unchanged, address: unchanged, line: unchanged });
  });

  it("changes the hash of a request with it, by its value and by where it is", () => {
    const hashes = ["", "text", false, 0, [], { key: "value" }].flatMap((sent) =>
      Object.values(withField(sent)),
    );
    expect(new Set([hashOf(FULL), ...hashes]).size).toBe(1 + hashes.length);
  });

  it("has the same effect whatever the order of the fields", () => {
    expect(hash({ later: 1, another: 2 })).toBe(hash({ another: 2, later: 1 }));
  });
});

describe("two requests", () => {
  it.each<[string, Body]>([
    ["the order of their fields", { lines: REQUEST.lines, shippingAddress: ADDRESS }],
    ["the case of the country", { ...REQUEST, shippingAddress: { ...ADDRESS, countryCode: "gb" } }],
    ["the case of a product id", { ...REQUEST, lines: [{ productId: PRODUCT.toUpperCase(), quantity: 1 }] }],
    ["testMode false or absent", { ...REQUEST, testMode: false }],
    ["metadata empty or absent", { ...REQUEST, metadata: {} }],
  ])("are the same when they differ by %s", (_, body) => {
    expect(hashOf(body)).toBe(hashOf(REQUEST));
  });

  it("differ when any field differs", () => {
    const hashes = new Set([hashOf(FULL)]);
    const expectNew = (body: Body) => {
      const before = hashes.size;
      expect(hashes.add(hashOf(body)).size, JSON.stringify(body)).toBe(before + 1);
    };
    for (const field of Object.keys(FULL_ADDRESS))
      expectNew({ ...FULL, shippingAddress: { ...FULL_ADDRESS, [field]: "ZZ" } });
    expectNew(NOTED);
    expectNew({ ...NOTED, note: "Ring once." });
    expectNew({ ...FULL, note: "Ring twice." });
    expectNew({ ...FULL, metadata: { note: "Ring twice." } });
    expectNew({ ...FULL, metadata: { a: "" } });
    expectNew({ ...FULL, metadata: { a: "1" } });
    expectNew({ ...FULL, metadata: { A: "1" } });
    expectNew({ ...FULL, metadata: { ["__proto__"]: "1" } });
    expectNew({ ...FULL, externalOrderId: "PO-1002" });
    expectNew({ ...FULL, testMode: false });
    expectNew({ ...FULL, lines: FULL.lines.toReversed() });
    expectNew({ ...FULL, lines: FULL.lines.slice(1) });
    expectNew({ ...FULL, lines: [...FULL.lines, ...FULL.lines] });
    expectNew({ ...FULL, lines: FULL.lines.map((line) => ({ ...line, quantity: 2 })) });
  });

  it("differ by the absence of an optional field", () => {
    for (const field of ["stateCode", "address2", "company", "phone", "name"]) {
      const { [field as "name"]: _, ...shippingAddress } = FULL_ADDRESS;
      expect(hashOf({ ...FULL, shippingAddress })).not.toBe(hashOf(FULL));
    }
    const { externalOrderId, ...without } = FULL;
    expect(hashOf(without)).not.toBe(hashOf(FULL));
  });

  it("never share a hash by moving text from one field to another", () => {
    const texts = fc.tuple(fc.string(), fc.string(), fc.string());
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const [first, second] = [one, other].map(([firstName, lastName, address1]) =>
          hashOf({ ...REQUEST, shippingAddress: { ...ADDRESS, firstName, lastName, address1 } }),
        );
        expect(first === second).toBe(one.every((text, index) => text === other[index]));
      }),
    );
  });

  it("have a SHA-256 hash", () => {
    expect(hashOrderRequest(normalizeOrderRequest(REQUEST))).toHaveLength(32);
  });
});
