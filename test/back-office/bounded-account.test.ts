import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAccountEntries } from "../../src/payments/account/account-sql.ts";
import type { BookingKind } from "../../src/payments/account/bookings.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { ROWS_READ_MAX, UUID_MAX } from "../../src/platform/wire/cursor.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { payIn } from "../support/payments.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

const CHARGES = 2 * ROWS_READ_MAX + 1;

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  await payIn(test, partner, "1.00");
  await addYoungerCharges();
});
afterAll(() => test.close());

/** Copies the only payment as charges that are younger. */
const addYoungerCharges = (): Promise<void> =>
  test.db.runScript(`
    insert into account_entries
    select (jsonb_populate_record(null::account_entries, to_jsonb(e) || jsonb_build_object(
             'id', 'f1900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), 'kind', 'charge', 'amount_minor', -1,
             'reference', null, 'actor_kind', null, 'actor_name', null, 'actor_id', null))).*
    from (select * from account_entries limit 1) e, generate_series(1, ${CHARGES}) n;
    analyze account_entries`);

const rowsOfFirstPage = async (kind: BookingKind | null): Promise<number> => {
  const rows = await countRowsRead(
    test.db,
    (db: Queryable) =>
      listAccountEntries(db, uuidIn("mer", partner.merchantId), kind, {
        list: "account-entries",
        afterId: UUID_MAX,
        limit: 50,
      }),
    { returnRows: true },
  );
  return rows("account_entries");
};

describe("GET /api/merchants/{id}/account/entries", () => {
  it("reads a bounded number of rows for a kind that few have", async () => {
    expect([ROWS_READ_MAX, ROWS_READ_MAX + LOOK_AHEAD]).toContain(await rowsOfFirstPage("payment"));
    expect([ROWS_READ_MAX, ROWS_READ_MAX + LOOK_AHEAD]).toContain(await rowsOfFirstPage("refund"));
  });

  it("reads no more than a page without a filter, and for a kind that most have", async () => {
    expect(await rowsOfFirstPage(null)).toBeLessThanOrEqual(60);
    expect(await rowsOfFirstPage("charge")).toBeLessThanOrEqual(60);
  });

  it.each([
    ["payment", 1],
    ["refund", 0],
  ])("finds by following the cursor: %s", async (kind, count) => {
    const kinds: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ""; cursor !== null; pages += 1) {
      const path = `/api/merchants/${partner.merchantId}/account/entries?kind=${kind}${cursor && `&cursor=${cursor}`}`;
      const { body } = await test.backOffice.get(path);
      kinds.push(...body.data.map((entry: { kind: string }) => entry.kind));
      cursor = body.nextCursor;
    }
    expect(kinds).toEqual(Array(count).fill(kind));
    expect(pages).toBe(3);
  });
});
