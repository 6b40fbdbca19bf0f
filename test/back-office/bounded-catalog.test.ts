import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Queryable } from "../../src/platform/database/database.ts";
import { searchPatterns } from "../../src/platform/fold-text.ts";
import { ROWS_READ_MAX, UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { listByExposure } from "../../src/products/exposure-sql.ts";
import { listProducts, type ProductFilter } from "../../src/products/products-sql.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

const STORED = 3 * ROWS_READ_MAX;
const FIRST = "01900000-0000-7000-8000-000000000001";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  await copyProduct();
});
afterAll(() => test.close());

/** Copies the only product, as older ones. The last of the copies is discontinued, and the first one alone is not exposed. */
const copyProduct = (): Promise<void> =>
  test.db.runScript(`
    insert into products (id, sku, status, merchant_id, name, price_minor, currency, created_at, updated_at)
    select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'COPY-' || n,
           case when n = ${STORED} then 'discontinued' else 'active' end,
           p.merchant_id, p.name, p.price_minor, p.currency, p.created_at, p.updated_at
    from (select * from products limit 1) p, generate_series(1, ${STORED}) n;
    insert into exposed_products
    select (jsonb_populate_record(null::exposed_products, to_jsonb(e) || jsonb_build_object('product_id', p.id))).*
    from (select * from exposed_products limit 1) e, products p
    where p.sku like 'COPY-%' and p.id <> '${FIRST}';
    analyze products, exposed_products`);

const ALL: ProductFilter = { sku: null, status: null, isExposed: null, connectionId: null, text: null };

/** All that a page may read. */
const READS_IN_FULL = [ROWS_READ_MAX, ROWS_READ_MAX + LOOK_AHEAD];

/** Rows that the first page reads, by table. */
const rowsOfFirstPage = (filter: Partial<ProductFilter>) => {
  const position = { list: "catalog", afterId: UUID_MIN, limit: 50 };
  return countRowsRead(
    test.db,
    (db: Queryable) => listProducts(db, uuidIn("mer", partner.merchantId), { ...ALL, ...filter }, position),
    { returnRows: true },
  );
};

describe("GET /api/merchants/{id}/products", () => {
  it.each<[string, Partial<ProductFilter>]>([
    ["a status that few have", { status: "discontinued" }],
    ["a text that none has", { text: searchPatterns("nothing") }],
    ["products that no connection sees", { isExposed: false }],
  ])("reads a bounded number of rows for %s", async (_title, filter) => {
    const rows = await rowsOfFirstPage(filter);
    expect(READS_IN_FULL).toContain(rows("products"));
    expect(rows("exposed_products")).toBeLessThanOrEqual(ROWS_READ_MAX);
  });

  it("reads no more than a page without a filter, for exposed products, and for a SKU", async () => {
    for (const filter of [{}, { isExposed: true }, { sku: "COPY-9000" }]) {
      const rows = await rowsOfFirstPage(filter);
      expect(rows("products"), JSON.stringify(filter)).toBeLessThanOrEqual(60);
      expect(rows("exposed_products")).toBeLessThanOrEqual(60);
    }
  });

  it.each([
    ["status=discontinued", `COPY-${STORED}`],
    [`q=copy-${STORED}`, `COPY-${STORED}`],
    ["exposed=false", "COPY-1"],
    ["sku=COPY-9000", "COPY-9000"],
  ])("finds by following the cursor: %s", async (query, sku) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ""; cursor !== null; pages += 1) {
      const path = `/api/merchants/${partner.merchantId}/products?${query}${cursor && `&cursor=${cursor}`}`;
      const { body } = await test.backOffice.get(path);
      found.push(...body.data.map((product: { sku: string }) => product.sku));
      cursor = body.nextCursor;
    }
    expect(found).toEqual([sku]);
    expect(pages).toBeLessThanOrEqual(STORED / ROWS_READ_MAX + 1);
  });
});

describe("POST /api/connections/{id}/products/expose with a filter", () => {
  it("reads a bounded number of rows, also of exposures", async () => {
    const search = {
      filter: { ...ALL, isExposed: false },
      isExposedHere: false,
      afterId: UUID_MIN,
      limit: 500,
    };
    const rows = await countRowsRead(
      test.db,
      (db: Queryable) => listByExposure(db, connectionKey(partner), search),
      { returnRows: true },
    );
    expect(READS_IN_FULL).toContain(rows("products"));
    expect(rows("exposed_products")).toBeLessThanOrEqual(2 * ROWS_READ_MAX);
  });
});
