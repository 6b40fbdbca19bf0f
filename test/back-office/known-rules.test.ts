import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { RULES, sentenceOf } from "../../src/platform/wire/rules.ts";
import { errors as german } from "../../web/src/text/errors.de.ts";
import { errors as english } from "../../web/src/text/errors.en.ts";
import { explained, setErrorTexts } from "../../web/src/text/explanations.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { importCsv } from "../support/imports.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());
afterEach(() => setErrorTexts(null));

const USD = { amount: "1.00", currency: "USD" };
const file = (csv: string) => () => importCsv(test.backOffice, partner.merchantId, csv);
const post = (path: () => string, body: object) => () => test.backOffice.post(path(), body);
const products = () => `/api/merchants/${partner.merchantId}/products`;
const connection = () => `/api/connections/${partner.connectionId}`;
const endpoints = () => `${connection()}/webhook-endpoints`;

/** Bad input of each kind, and the rules that it violates. */
const REQUESTS: readonly [string, string[], () => Promise<Answer>][] = [
  ["a body without its fields", ["required"], post(products, {})],
  [
    "values of a wrong type, length, size and form",
    ["type", "min_length", "minimum", "format"],
    post(products, { sku: 1, name: "", price: USD, weightGrams: -1, imageUrl: "javascript:alert(1)" }),
  ],
  ["an amount in another currency", ["amount"], post(products, { sku: "a", name: "a", price: USD })],
  ["a field that is nearly known", ["unknown_field"], post(products, { SKU: "a", name: "a", price: USD })],
  ["an unknown parameter", ["unknown_parameter"], () => test.backOffice.get("/api/orders?x=1")],
  ["a bad cursor", ["cursor"], () => test.backOffice.get("/api/orders?cursor=x")],
  ["an id of another kind", ["id_prefix"], () => test.backOffice.get("/api/orders?merchantId=x")],
  ["a value that is none of the list", ["one_of"], () => test.backOffice.get("/api/orders?status=x")],
  [
    "a time that is over",
    ["future"],
    post(() => `${connection()}/keys`, { expiresAt: "2001-01-01T00:00:00Z" }),
  ],
  [
    "products and a filter",
    ["either"],
    post(() => `${connection()}/products/expose`, { productIds: ["x"], filter: {} }),
  ],
  ["an unknown product", ["not_found"], post(() => `${connection()}/products/expose`, { productIds: ["x"] })],
  ["a URL without https", ["url_scheme"], post(endpoints, { url: "ftp://partner.example" })],
  ["a URL with a password", ["no_credentials"], post(endpoints, { url: "https://a:b@partner.example" })],
  [
    "a token whose role lacks its merchants",
    ["role_requires"],
    post(() => "/api/tokens", { name: "t", role: "merchant" }),
  ],
  [
    "a country that means another one",
    ["country"],
    post(() => "/api/facilities", { name: "F", countryCode: "UK" }),
  ],
  ["a file without columns", ["missing_column", "unknown_column"], file("name,weight\n")],
  ["an empty file", ["header_row"], file("")],
  [
    "a file with bad cells",
    ["required", "amount", "two_meanings", "cell_count"],
    file("sku,name,price\n,x,\na,b,1.0011\na,b,1.001\na,b,1,2\n"),
  ],
  ["a file with an unnamed column", ["unnamed_column"], file("sku,name,price,,\na,b,1,x,\n")],
  ["a file that a spreadsheet has damaged", ["damaged"], file("sku,name,price\n10-Dec,b,1\n#REF!,b,1\n")],
  ["a file with a row twice", ["earlier_row"], file("sku,name,price\na,b,1\na,b,1\n")],
  ["a file with an open quote", ["file"], file('sku,name,price\na,"b,1\n')],
];

it.each(REQUESTS)("%s violates rules that the console knows", async (_, rules, send) => {
  const { status, body } = await send();
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.errors.map(({ rule }: { rule: string }) => rule)).toEqual(expect.arrayContaining(rules));
  for (const error of body.errors) {
    expect(Object.keys(RULES)).toContain(error.rule);
    expect(error.detail).toBe(sentenceOf(error));
    for (const texts of [german, english]) {
      setErrorTexts(texts);
      expect(explained({ ...error, detail: "No." })).not.toBe("No.");
    }
  }
});
