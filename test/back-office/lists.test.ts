import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, createPartner, createProduct, type Partner } from "../support/builders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const merchantPath = () => `/api/merchants/${partner.merchantId}`;
const connectionPath = () => `/api/connections/${partner.connectionId}`;

/** Each list, and how a further member of it is made. */
const LISTS: { title: string; path: () => string; add: (n: number) => Promise<string> }[] = [
  {
    title: "GET /api/merchants",
    path: () => "/api/merchants",
    add: async (n) => {
      const body = { name: `Merchant ${n}`, accountEmail: "m@example.com" };
      return (await test.backOffice.post("/api/merchants", body)).body.id;
    },
  },
  {
    title: "GET /api/merchants/{id}/connections",
    path: () => `${merchantPath()}/connections`,
    add: async (n) =>
      (await test.backOffice.post(`${merchantPath()}/connections`, { name: `Connection ${n}` })).body.id,
  },
  {
    title: "GET /api/connections/{id}/keys",
    path: () => `${connectionPath()}/keys`,
    add: async () => (await createKey(test, partner.connectionId)).id,
  },
  {
    title: "GET /api/merchants/{id}/products",
    path: () => `${merchantPath()}/products`,
    add: () => createProduct(test, partner.merchantId),
  },
  {
    title: "GET /api/facilities",
    path: () => "/api/facilities",
    add: async (n) =>
      (await test.backOffice.post("/api/facilities", { name: `Facility ${n}`, countryCode: "DE" })).body.id,
  },
];

describe.each(LISTS)("$title", ({ path, add }) => {
  let ids: string[];
  beforeAll(async () => {
    const first = (await test.backOffice.get(path())).body.data.map(({ id }: { id: string }) => id);
    ids = [...first];
    for (let n = first.length; n < 103; n += 1) {
      if (n % 10 === 0) test.clock.advance({ ms: 1 }); // Some are made in the same millisecond, some are not.
      ids.push(await add(n));
    }
  });

  const page = async (query: string) => {
    const { status, body } = await test.backOffice.get(`${path()}?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ids: body.data.map(({ id }: { id: string }) => id), nextCursor: body.nextCursor };
  };

  async function readAllPages(limit: number): Promise<{ ids: string[]; pages: number }> {
    const seen: string[] = [];
    for (let pages = 1, cursor = ""; ; pages += 1) {
      const next = await page(`limit=${limit}${cursor && `&cursor=${cursor}`}`);
      seen.push(...next.ids);
      if (next.nextCursor === null) return { ids: seen, pages };
      cursor = next.nextCursor;
    }
  }

  it("is oldest first, with 50 on a page by default", async () => {
    expect(await page("")).toMatchObject({ ids: ids.slice(0, 50), nextCursor: expect.any(String) });
  });

  it.each([1, 50, 100])("in pages of %d shows everything once, in order", async (limit) => {
    expect(await readAllPages(limit)).toEqual({ ids, pages: Math.ceil(ids.length / limit) });
  });

  it("ends with a null cursor, also when the last page is full", async () => {
    const { nextCursor } = await page("limit=10");
    const last = ids.slice(10);
    expect(await page(`limit=${last.length}&cursor=${nextCursor}`)).toEqual({ ids: last, nextCursor: null });
  });

  it("shows on a later page what was added while paging, and nothing twice", async () => {
    const first = await page("limit=100");
    ids.push(await add(ids.length));
    expect((await page(`cursor=${first.nextCursor}`)).ids).toEqual(ids.slice(100));
  });

  it.each(["0", "-1", "101", "1.5", "ten", "", "1e9", "99999999999999999999"])(
    "rejects limit=%s with 422",
    async (limit) => {
      const { status, body } = await test.backOffice.get(`${path()}?limit=${limit}`);
      expect(status).toBe(422);
      expect(body.errors).toMatchObject([{ parameter: "limit" }]);
    },
  );

  it.each([
    "",
    "x",
    "MDAwMDAwMDA",
    "00000000-0000-0000-0000-000000000000",
    "%00",
    "a".repeat(500),
    "a".repeat(501),
  ])("rejects cursor=%s with 422", async (cursor) => {
    const { status, body } = await test.backOffice.get(`${path()}?cursor=${cursor}`);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ parameter: "cursor" }]);
  });

  it("rejects a cursor that was changed at any position", async () => {
    const { nextCursor } = await page("limit=1");
    for (let index = 0; index < nextCursor.length; index += 1) {
      const other = nextCursor[index] === "A" ? "B" : "A";
      const mangled = nextCursor.slice(0, index) + other + nextCursor.slice(index + 1);
      expect((await test.backOffice.get(`${path()}?cursor=${mangled}`)).status, mangled).toBe(422);
    }
  });

  it("reports all errors of the query at once", async () => {
    const { status, body } = await test.backOffice.get(`${path()}?limit=0&cursor=${"a".repeat(501)}`);
    expect(status).toBe(422);
    const parameters = body.errors.map(({ parameter }: { parameter: string }) => parameter);
    expect(parameters.sort()).toEqual(["cursor", "limit"]);
  });
});

describe("lists of something that is not there", () => {
  it.each([
    "/api/merchants/mer_01hzzzzzzzzzzzzzzzzzzzzzzz/connections",
    "/api/merchants/mer_01hzzzzzzzzzzzzzzzzzzzzzzz/products",
    "/api/connections/con_01hzzzzzzzzzzzzzzzzzzzzzzz/keys",
    "/api/merchants/none/connections",
    "/api/connections/none/keys",
  ])("%s returns 404, not an empty list", async (path) => {
    expect((await test.backOffice.get(path)).status).toBe(404);
  });

  it("ids of another kind name nothing", async () => {
    const path = `/api/merchants/${partner.connectionId.replace("con_", "mer_")}/products`;
    expect((await test.backOffice.get(path)).status).toBe(404);
    expect((await test.backOffice.get(`/api/merchants/${partner.connectionId}/products`)).status).toBe(404);
  });
});
