import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folded, foldText, foldTextInTwoLetters } from "../../src/platform/fold-text.ts";
import { created, createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { createFacility, setStock } from "../support/facilities.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

// docs/design/api-conventions.md, "Folded texts"

const NAME = "Großmann’s Müller Łódź Café";
const NFD = NAME.normalize("NFD");

let test: TestService;
let partner: Partner;
let facilityId: string;
let productId: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  const { merchantId, connectionId } = partner;
  await test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, { body: { name: NAME } });
  await test.backOffice.request("PATCH", `/api/connections/${connectionId}`, { body: { name: NFD } });
  productId = await createExposedProduct(test, merchantId, connectionId, { sku: "ŁÓDŹ_1", name: NAME });
  facilityId = await createFacility(test);
  await setStock(test, facilityId, productId, 1);
  await createEndpoint(partner, { description: NAME });
  await created(
    test.backOffice.post("/api/people", {
      name: NAME,
      email: "fold@example.com",
      grants: [{ role: "support" }],
    }),
  );
});
afterAll(() => test.close());

const count = async (path: string, q: string): Promise<number> => {
  const { status, body } = await test.backOffice.get(
    `${path}${path.includes("?") ? "&" : "?"}q=${encodeURIComponent(q)}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.length;
};

it.each([
  ["merchants", () => "/api/merchants"],
  ["connections", () => "/api/connections"],
  ["a merchant's connections", () => `/api/merchants/${partner.merchantId}/connections`],
  ["people", () => "/api/people"],
  ["a catalog", () => `/api/merchants/${partner.merchantId}/products`],
  ["a changed catalog", () => `/api/merchants/${partner.merchantId}/products?sort=updated`],
  ["what a connection sees", () => `/api/connections/${partner.connectionId}/products`],
  ["who sees a product", () => `/api/products/${productId}/connections`],
  ["stock of a facility", () => `/api/facilities/${facilityId}/stock`],
  ["stock of a merchant", () => `/api/merchants/${partner.merchantId}/stock`],
  ["endpoints", () => "/api/webhook-endpoints"],
])("a search of %s ignores accents, case, apostrophes and Unicode forms", async (_title, path) => {
  const found = ["GROSSMANNS", "grossmann's", "muller", "mueller", "MÜLLER", "lodz", NAME, NFD, "s Mu"];
  for (const q of found) expect(await count(path(), q), q).toBe(1);
  for (const q of ["miller", "s_Mu", "%caf", "\\", "'", "’ `"]) expect(await count(path(), q), q).toBe(0);
});

it("a search of stored two letters finds them by an umlaut", async () => {
  const body = { name: "Mueller_2", accountEmail: "o'neil@example.com" };
  await created(test.backOffice.post("/api/merchants", body));
  for (const q of ["müller_2", "MUELLER_", "oneil@"]) expect(await count("/api/merchants", q), q).toBe(1);
});

it("the palette folds, and has first what begins with the text", async () => {
  for (const name of ["Elan", "An Élan"])
    await created(test.backOffice.post("/api/merchants", { name, accountEmail: "x@example.com" }));
  const search = async (q: string) =>
    (await test.backOffice.get(`/api/search?q=${encodeURIComponent(q)}`)).body;
  expect((await search("élan")).merchants).toMatchObject([{ name: "Elan" }, { name: "An Élan" }]);
  const { merchants, connections, products } = await search("grossmanns");
  expect([merchants, connections, products].map(({ length }) => length)).toEqual([1, 1, 1]);
});

it("the exposure of what a filter finds takes the same products as the list", async () => {
  const path = `/api/connections/${partner.connectionId}/products/withdraw`;
  const { body } = await test.backOffice.post(path, { filter: { q: "mueller" }, dryRun: true });
  expect(body).toMatchObject({ changed: 1 });
});

/** Letters that the rule is about, and others of scripts that a person may type. */
const LETTERS =
  "aZ09 '’´`ßẞäÄöüÅøØłŁđðþÞæŒıİħŧſςΣΆωЁйЇﬁ①Ｋ｀＇ŉ‴ǖ한ᄒがカﾞÇñ\u0301\u0308\u030a\u0327\u05b0\u064e\u3099%_\\\n\u200d😀";

it("the database folds as the service does", async () => {
  const generated = fc.sample(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 12 }), 2_000);
  const texts = [...LETTERS, ...generated];
  const rows = await test.db.query<{ text: string }>({
    name: "fold-texts",
    text: `select ${folded("t.text")} as text from unnest($1::text[]) with ordinality as t (text, number) order by number`,
    values: [texts],
  });
  const isAscii = (text: string) => !/[^\0-\x7f]/.test(text);
  const both = (text: string) => `${foldText(text)}\n${foldTextInTwoLetters(text)}`;
  const expected = texts.map((text) => (isAscii(text) ? foldText(text) : both(text)));
  const different = texts.filter((_, index) => rows[index]?.text !== expected[index]);
  expect(different).toEqual([]);
});
