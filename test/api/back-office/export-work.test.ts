import { beforeEach, describe, expect, it } from "vitest";
import { exportWork } from "../../../src/fulfilment/work-list/export-work.ts";
import { warehouseOf } from "../../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../../support/builders.ts";
import { acceptAll, createFacility, routeAll, ship } from "../../support/facilities.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";
import { uuidIn } from "../../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  facility = await createFacility(test);
});

/** Orders that can be shipped, oldest first. */
async function placeReady(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    test.clock.advance({ ms: 1 });
    ids.push((await placeOrder(partner)).id);
  }
  await acceptAll(test);
  await routeAll(test);
  return ids;
}

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

  it("reads a page at a time, and leaves out what has shipped by then", async () => {
    const ids = await placeReady(5);
    const found: string[][] = [];
    for await (const page of exportWork(test.db, { facilityIds: null, taken: null }, test.clock.now(), 2)) {
      found.push(page.map(({ id }) => id));
      if (found.length === 1) await ship(test, partner, ids[2] ?? "");
    }
    expect(found.flat()).toEqual([0, 1, 3, 4].map((at) => uuidIn("ord", ids[at] ?? "")));
    expect(Math.max(...found.map((page) => page.length))).toBe(2);
  });

  it("records who has read the addresses", async () => {
    const ids = await placeReady(1);
    await exported();
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${ids[0]}`)).body;
    expect(data).toMatchObject([{ action: "exportWork", merchantId: partner.merchantId }]);
  });
});
