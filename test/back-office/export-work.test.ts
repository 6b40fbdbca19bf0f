import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import type { WorkItem } from "../../src/fulfilment/pick-lists-sql.ts";
import { exportWork, readWork } from "../../src/fulfilment/work-list.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { warehouseOf } from "../support/back-office-resources.ts";
import { placeOrder } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { acceptAll, createFacility, routeAll, ship } from "../support/facilities.ts";
import { createPerson, signIn } from "../support/people.ts";
import { operationApplied } from "../support/real-orders.ts";
import { OPERATOR_TOKEN } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";
import { startWarehouse, type Warehouse } from "../support/work-list.ts";

let test: Warehouse["test"];
let partner: Warehouse["partner"];
let facility: Warehouse["facility"];
let placeReady: Warehouse["placeReady"];
beforeEach(async () => {
  ({ test, partner, facility, placeReady } = await startWarehouse());
});

/** The orders of a file, in its order. */
async function exported(query = ""): Promise<string[]> {
  const { status, headers, body } = await warehouseOf(test).get(`/api/work-list/export${query}`);
  expect(status, String(body)).toBe(200);
  expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
  const [head, ...rows] = String(body).trimEnd().split("\r\n");
  expect(head).toMatch(/^orderId,externalOrderId,.*,sku,productName,quantity,name,.*,takenBy,note$/);
  return rows.map((row) => row.split(",")[0] ?? "");
}

describe("GET /api/work-list/export", () => {
  it("has all orders, also more than a page of the list has", async () => {
    const ids = await placeReady(101);
    expect(await exported()).toEqual(ids);
  });

  it("has the filters of the list", async () => {
    const near = await placeReady(3);
    await test.backOffice.post(`/api/facilities/${facility}/close`);
    const other = await createFacility(test);
    const far = await placeReady(1);
    await warehouseOf(test).post("/api/pick-lists", {
      facilityId: facility,
      takenBy: "Wilma",
      orderLimit: 2,
    });
    expect(await exported(`?facilityId=${other}`)).toEqual(far);
    expect(await exported("?taken=true")).toEqual(near.slice(0, 2));
    expect(await exported(`?taken=false&facilityId=${facility}`)).toEqual(near.slice(2));
    expect(await exported("?taken=true&facilityId=fac_00000000000000000000000000")).toEqual([]);
    expect((await warehouseOf(test).get("/api/work-list/export?facilityId=x")).status).toBe(422);
  });

  const ALL = { facilityIds: null, taken: null };
  const uuidsOf = (ids: readonly (string | undefined)[]) => ids.map((id = "") => uuidIn("ord", id));

  it("reads a page at a time, and leaves out what cannot be shipped any more by then", async () => {
    const ids = await placeReady(7);
    const [, , shipped = "", held = "", canceled = ""] = ids;
    const found: string[][] = [];
    for await (const page of exportWork(test.db, ALL, test.clock.now(), 2)) {
      found.push(page.map(({ id }) => id));
      if (found.length > 1) continue;
      await ship(test, partner, shipped);
      await operationApplied(test, held, "hold");
      await operationApplied(test, canceled, "cancel");
    }
    expect(found.flat()).toEqual(uuidsOf([ids[0], ids[1], ids[5], ids[6]]));
    expect(Math.max(...found.map((page) => page.length))).toBe(2);
  });

  it("has no order twice, also if one that was left out can be shipped again, and new ones come", async () => {
    const ids = await placeReady(4);
    await operationApplied(test, ids[0] ?? "", "hold");
    const found: string[] = [];
    for await (const page of exportWork(test.db, ALL, test.clock.now(), 2)) {
      found.push(...page.map(({ id }) => id));
      if (found.length > 2) continue;
      await operationApplied(test, ids[0] ?? "", "release-hold");
      ids.push(...(await placeReady(1)));
    }
    expect(found).toEqual(uuidsOf(ids.slice(1)));
  });

  it("shows the lines that are left when their page is read, and no order of which all has shipped since", async () => {
    const lines = partner.productIds.slice(0, 2).map((productId) => ({ productId, quantity: 1 }));
    const [first = "", gone = ""] = await placeReady(2);
    const { id: two } = await placeOrder(partner, { lines });
    await acceptAll(test);
    await routeAll(test);
    const pages = exportWork(test.db, ALL, test.clock.now());
    const { value: page } = (await pages.next()) as IteratorYieldResult<readonly WorkItem[]>; // There is one.
    expect(page.map(({ id }) => id)).toEqual(uuidsOf([first, gone, two]));
    await ship(test, partner, gone);
    await ship(test, partner, two, [0]);
    const work = await readWork(test.db, page);
    expect(work.map((each) => [each.id, each.lines.length])).toEqual(
      uuidsOf([first, two]).map((id) => [id, 1]),
    );
  });

  it("records who has read the addresses", async () => {
    const ids = await placeReady(1);
    await exported();
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${ids[0]}`)).body;
    expect(data).toMatchObject([{ action: "exportWork", merchantId: partner.merchantId }]);
  });
});

describe("an export of the work list, which has the addresses of all its buyers", () => {
  it("needs recent authentication of a person, and a pick list with its slips needs none", async () => {
    await placeReady(2);
    const grants = [{ role: "warehouse" as const, facilityIds: null }];
    const browser = await signIn(test, await createPerson(test, { grants }));
    expect((await browser.get("/api/work-list/export")).status).toBe(200);
    test.clock.advance({ minutes: 15 });
    expect(await browser.get("/api/work-list/export")).toMatchObject({
      status: 403,
      body: { code: "recent-authentication-required" },
    });
    const taken = await browser.post("/api/pick-lists", { facilityId: facility, takenBy: "Wilma" });
    const path = `/api/pick-lists/${taken.body.pickList.id}`;
    for (const rest of ["?format=csv", "/packing-slips"])
      expect((await browser.get(path + rest)).status).toBe(200);
  });

  it("is not for support, which sees the work list", async () => {
    const browser = await signIn(test, await createPerson(test, { grants: [{ role: "support" }] }));
    expect((await browser.get("/api/work-list")).status).toBe(200);
    expect(await browser.get("/api/work-list/export")).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    });
  });

  it("has no second way: a page of the list is no file", async () => {
    expect((await warehouseOf(test).get("/api/work-list?format=csv")).status).toBe(422);
  });
});

describe("an export of the work list that breaks off", () => {
  const PATH = "/api/work-list/export";
  const authorized = { authorization: `Bearer ${OPERATOR_TOKEN}` };

  /** A listener of which the database is what `database` makes of it. */
  async function listenWith(database: (db: Database) => Database): Promise<string> {
    const context = { ...test.context, db: database(test.db) };
    const app = createBackOffice(context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
    onTestFinished(() => app.close());
    return app.listen({ host: "127.0.0.1", port: 0 });
  }

  it("at any statement, never ends as if it were complete", async () => {
    const ids = await placeReady(101);
    let text: string | null = null;
    let statements = 0;
    for (; text === null; statements += 1) {
      const url = await listenWith((db) => dyingDatabase(db, statements + 1, false));
      const response = await fetch(url + PATH, { headers: authorized });
      text = await response.text().catch(() => null);
      if (response.status !== 200) text = null;
    }
    expect(text.trimEnd().split("\r\n")).toHaveLength(1 + ids.length);
    expect(statements, "two pages were read").toBeGreaterThan(8);
  });
});
