import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExposedProduct, createPartner, exposeProduct, type Partner } from "../support/builders.ts";
import { expectErrors } from "../support/orders.ts";
import { partnerWithProducts, readAllPages, readPage, withdrawProduct } from "../support/product-pages.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

describe("limit", () => {
  let partner: Partner;
  let ids: string[];
  beforeAll(async () => {
    ({ partner, ids } = await partnerWithProducts(test, 102));
  });

  it("is 50 when it is not sent", async () => {
    const { ids: page, nextCursor } = await readPage(partner);
    expect(page).toEqual(ids.slice(0, 50));
    expect(nextCursor).toEqual(expect.any(String));
  });

  it.each([1, 2, 50, 99, 100])("of %d is taken", async (limit) => {
    expect((await readPage(partner, `?limit=${limit}`)).ids).toEqual(ids.slice(0, limit));
  });

  it.each([
    "0",
    "-1",
    "101",
    "1000",
    "99999999999999999999",
    "abc",
    "1a",
    "1.5",
    "",
    "null",
    "true",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e1",
    "1e400",
    "0x10",
    "%2010",
    "+10",
    "%2B10",
    "10.0",
    "1_0",
    "\u0661",
    "%00",
    "10&limit=10",
    "1&limit=2",
  ])("of %s is rejected with 422", async (limit) => {
    expectErrors(await partner.client.get(`/v1/products?limit=${limit}`), [{ parameter: "limit" }]);
  });

  it("and cursor are both reported when both are invalid", async () => {
    const answer = await partner.client.get(`/v1/products?limit=0&cursor=${"x".repeat(501)}`);
    expectErrors(answer, [{ parameter: "limit" }, { parameter: "cursor" }]);
  });

  it("may change from page to page", async () => {
    const first = await readPage(partner, "?limit=3");
    const second = await readPage(partner, `?limit=100&cursor=${first.nextCursor}`);
    expect([...first.ids, ...second.ids]).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it("is the only way to page besides the cursor: offset and page are unknown, so they are ignored", async () => {
    for (const query of ["offset=10", "page=2", "skip=5"])
      expect((await readPage(partner, `?limit=5&${query}`)).ids).toEqual(ids.slice(0, 5));
  });
});

describe("nextCursor", () => {
  it("is null on the last page, also when that page is full", async () => {
    const { partner, ids } = await partnerWithProducts(test, 6);
    expect((await readAllPages(partner, "limit=3")).map((page) => page.length)).toEqual([3, 3]);
    expect((await readAllPages(partner, "limit=5")).map((page) => page.length)).toEqual([5, 1]);
    expect(await readPage(partner, "?limit=6")).toEqual({ ids, nextCursor: null });
  });

  it("can be used again, and returns the same page", async () => {
    const { partner, ids } = await partnerWithProducts(test, 4);
    const { nextCursor } = await readPage(partner, "?limit=2");
    for (let time = 0; time < 3; time += 1)
      expect((await readPage(partner, `?limit=2&cursor=${nextCursor}`)).ids).toEqual(ids.slice(2));
  });

  it("needs no escaping in a URL", async () => {
    const { partner } = await partnerWithProducts(test, 3);
    expect((await readPage(partner, "?limit=1")).nextCursor).toMatch(/^[A-Za-z0-9._~-]+$/);
  });

  it("also works when the product at its position has been withdrawn", async () => {
    const { partner, ids } = await partnerWithProducts(test, 5);
    const { nextCursor } = await readPage(partner, "?limit=2");
    await withdrawProduct(test, partner, String(ids[1]));
    expect((await readPage(partner, `?cursor=${nextCursor}`)).ids).toEqual(ids.slice(2));
  });

  it("shows nothing of another connection", async () => {
    const { partner } = await partnerWithProducts(test, 4);
    const { nextCursor } = await readPage(partner, "?limit=1");
    const other = await createPartner(test); // Its products are younger than the cursor.
    expect((await readPage(other, `?cursor=${nextCursor}`)).ids).toEqual(other.productIds);
  });
});

describe("paging over hundreds of products", () => {
  it("shows each of them once, for any page size", async () => {
    const { partner, ids } = await partnerWithProducts(test, 230);
    for (const limit of [7, 50, 99, 100])
      expect((await readAllPages(partner, `limit=${limit}`)).flat(), `limit ${limit}`).toEqual(ids);
    expect((await readAllPages(partner, "")).map((page) => page.length)).toEqual([50, 50, 50, 50, 30]);
  });

  it("has no gap and no duplicate while products are exposed and withdrawn", async () => {
    const { partner, ids } = await partnerWithProducts(test, 200);
    const hidden: string[] = [];
    for (const id of ids.filter((_, index) => index % 5 === 4)) {
      await withdrawProduct(test, partner, id);
      hidden.push(id);
    }
    const always = new Set(ids.filter((id) => !hidden.includes(id)));
    const young: string[] = [];
    const exposedBehind: string[] = [];
    const walked = (
      await readAllPages(partner, "limit=9", async (_page, seen) => {
        const here = ids.indexOf(String(seen.at(-1)));
        const ahead = (from: string[]) => from.filter((id) => ids.indexOf(id) > here);
        const behind = (from: string[]) => from.filter((id) => ids.indexOf(id) < here);
        const [seenOnce] = behind([...always]);
        const [toCome] = ahead([...always]).slice(20);
        const [nowBehind] = behind(hidden.filter((id) => !exposedBehind.includes(id)));
        const [nowAhead] = ahead(hidden).slice(2);
        for (const id of [seenOnce, toCome]) {
          if (id === undefined) continue;
          await withdrawProduct(test, partner, id);
          always.delete(id);
        }
        for (const id of [nowBehind, nowAhead]) if (id) await exposeProduct(test, partner.connectionId, id);
        if (nowBehind) exposedBehind.push(nowBehind);
        if (young.length < 12)
          young.push(await createExposedProduct(test, partner.merchantId, partner.connectionId));
      })
    ).flat();

    expect(new Set(walked).size, "no repeat").toBe(walked.length);
    const order = [...ids, ...young];
    expect(walked, "oldest first").toEqual(order.filter((id) => walked.includes(id)));
    expect(
      [...always].filter((id) => !walked.includes(id)),
      "no gap",
    ).toEqual([]);
    expect(
      young.filter((id) => !walked.includes(id)),
      "the youngest land on a later page",
    ).toEqual([]);

    // Specification, part 4: a product exposed while paging may land only on the next pass.
    const next = (await readAllPages(partner, "limit=100")).flat();
    expect(exposedBehind.length).toBeGreaterThan(5);
    for (const id of exposedBehind) expect(next).toContain(id);
  });
});
