import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Queryable } from "../../src/platform/database/database.ts";
import { searchPatterns } from "../../src/platform/fold-text.ts";
import { ROWS_READ_MAX, UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { listByExposure } from "../../src/products/exposure-sql.ts";
import { listProducts, type ProductFilter } from "../../src/products/products-sql.ts";
import { listStock } from "../../src/stock/stock-sql.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { connectionKey } from "../support/orders.ts";
import { isOnCitus } from "../support/plain-postgres.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

const STORED = 3 * ROWS_READ_MAX;
const FIRST = "01900000-0000-7000-8000-000000000001";

let test: TestService;
let partner: Partner;
let facilityId: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facilityId = await createFacility(test);
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
    insert into stocked_products (merchant_id, product_id) select merchant_id, id from products where sku like 'COPY-%';
    insert into facility_stock (merchant_id, facility_id, product_id, on_hand, reserved, updated_at)
    select merchant_id, '${uuidIn("fac", facilityId)}', product_id, 5, 0, now() from stocked_products;
    analyze products, exposed_products, facility_stock`);

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
    expect(await followed(`/api/merchants/${partner.merchantId}/products?${query}`)).toEqual([sku]);
  });
});

/** The SKUs of all pages, of which there are no more than the bound makes. */
async function followed(path: string): Promise<string[]> {
  const found: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages += 1) {
    const { body } = await test.backOffice.get(`${path}${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.map((product: { sku: string }) => product.sku));
    cursor = body.nextCursor;
  }
  expect(pages).toBeLessThanOrEqual(STORED / ROWS_READ_MAX + 1);
  return found;
}

describe("GET /api/facilities/{id}/stock", () => {
  it("reads a bounded number of records, of all merchants and of one", async () => {
    const position = { list: "stock", afterId: UUID_MIN, limit: 50 };
    for (const merchantId of [null, uuidIn("mer", partner.merchantId)]) {
      const filter = { merchantId, sku: null, available: null, availableBelow: null, updatedSince: null };
      const rows = await countRowsRead(
        test.db,
        (db: Queryable) =>
          listStock(db, uuidIn("fac", facilityId), { ...filter, search: "nothing" }, position),
        { returnRows: true },
      );
      // On Citus each shard compares the records with all of its products.
      for (const table of merchantId === null && isOnCitus()
        ? ["facility_stock"]
        : ["facility_stock", "products"])
        expect(rows(table), table).toBeLessThanOrEqual(ROWS_READ_MAX + LOOK_AHEAD);
    }
  });

  it.each([
    [`q=copy-${STORED}`, `COPY-${STORED}`],
    ["sku=COPY-9000", "COPY-9000"],
    [`available=true&q=copy-${STORED - 1}&merchantId=`, `COPY-${STORED - 1}`],
  ])("finds by following the cursor: %s", async (query, sku) => {
    const path = query.replace(/=$/, `=${partner.merchantId}`);
    expect(await followed(`/api/facilities/${facilityId}/stock?${path}`)).toEqual([sku]);
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
