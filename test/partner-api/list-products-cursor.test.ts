import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, createPartner, type Partner } from "../support/builders.ts";
import { expectErrors } from "../support/orders.ts";
import { partnerWithProducts, readPage } from "../support/product-pages.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

describe("a cursor that is not valid for this list", () => {
  let partner: Partner;
  let cursor: string;
  beforeAll(async () => {
    ({ partner } = await partnerWithProducts(test, 3));
    cursor = String((await readPage(partner, "?limit=1")).nextCursor);
  });

  const expectRejected = async (text: string) => {
    const answer = await partner.client.get(`/v1/products?cursor=${encodeURIComponent(text)}`);
    expectErrors(answer, [{ parameter: "cursor" }]);
  };

  it("is rejected with 422 when any byte of it is changed", async () => {
    const bytes = Buffer.from(cursor, "base64url");
    for (let index = 0; index < bytes.length; index += 1) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ flip;
        await expectRejected(changed.toString("base64url"));
      }
    }
  });

  it("is rejected with 422 when any character of it is changed", async () => {
    for (let index = 0; index < cursor.length; index += 1) {
      const other = cursor[index] === "A" ? "B" : "A";
      await expectRejected(`${cursor.slice(0, index)}${other}${cursor.slice(index + 1)}`);
    }
  });

  it("is rejected with 422 when it is cut short", async () => {
    for (let length = 0; length < cursor.length; length += 1) await expectRejected(cursor.slice(0, length));
  });

  it("is rejected with 422 when something is added to it", async () => {
    for (const text of [
      `${cursor}A`,
      `A${cursor}`,
      `${cursor}=`,
      `${cursor} `,
      ` ${cursor}`,
      cursor + cursor,
    ])
      await expectRejected(text);
  });

  it.each([
    "null",
    "undefined",
    "0",
    "1",
    "-1",
    "eyJpZCI6MX0",
    "00000000-0000-0000-0000-000000000000",
    "\u0000",
    "\u{1f600}",
    "' or 1=1 --",
    "../../etc/passwd",
    "A".repeat(500),
    "A".repeat(501),
    "A".repeat(5_000),
  ])("is rejected with 422: %j", expectRejected);

  it("is rejected with 422 when it is sent twice", async () => {
    expectErrors(await partner.client.get(`/v1/products?cursor=${cursor}&cursor=${cursor}`), [
      { parameter: "cursor" },
    ]);
  });

  it("is rejected with 422 when it belongs to another list", async () => {
    const { merchantId, connectionId } = partner;
    await createPartner(test); // A second merchant and a second key, so that each list has a next page.
    await createKey(test, connectionId);
    for (const path of [
      "/api/merchants",
      `/api/merchants/${merchantId}/products`,
      `/api/connections/${connectionId}/keys`,
    ]) {
      const { body } = await test.backOffice.get(`${path}?limit=1`);
      expect(body.nextCursor, path).toEqual(expect.any(String));
      await expectRejected(body.nextCursor);
    }
  });
});
