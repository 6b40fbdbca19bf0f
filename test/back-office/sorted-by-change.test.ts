import { beforeEach, describe, expect, it } from "vitest";
import { developerOf, personOf } from "../support/back-office-resources.ts";
import { createPartner, createProduct, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { expectErrors } from "../support/orders.ts";
import { processDuePayments } from "../support/payments.ts";
import { type Client, startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
});

type Row = { id: string; updatedAt: string };
async function idsOf(path: string, client: Client = test.backOffice): Promise<string[]> {
  const rows: Row[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await client.get(`${path}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    rows.push(...body.data);
    if (body.nextCursor === null) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  expect(rows.map(({ updatedAt }) => updatedAt)).toEqual(rows.map(({ updatedAt }) => updatedAt).sort());
  return rows.map(({ id }) => id);
}

const now = () => test.clock.now().toISOString();
const note = (id: string) => test.backOffice.post(`/api/orders/${id}/notes`, { text: "Call first" });
async function placeThree(): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    test.clock.advance({ ms: 1 });
    ids.push((await placeOrder(partner)).id);
  }
  return ids;
}

describe("orders sorted by change", () => {
  it("begin with the one that has not changed for longest, and page in that order", async () => {
    const [one = "", two = "", three = ""] = await placeThree();
    test.clock.advance({ ms: 1 });
    await note(one);
    for (const limit of [1, 2, 100])
      expect(await idsOf(`/api/orders?sort=updated&limit=${limit}`)).toEqual([two, three, one]);
    const merchant = personOf(test, partner.merchantId);
    expect(await idsOf("/api/orders?sort=updated", merchant)).toEqual([two, three, one]);
    expect(await idsOf("/api/orders?sort=updated&status=NEW&limit=1")).toEqual([two, three, one]);
    expect(await idsOf("/api/orders?sort=updated&status=CANCELED")).toEqual([]);
    expect(await idsOf(`/api/orders?sort=updated&connectionId=${partner.connectionId}`)).toHaveLength(3);
  });

  it("since a time have changed at or after it: by a note, a charge, or a route", async () => {
    const [one = "", two = "", three = ""] = await placeThree();
    test.clock.advance({ ms: 1 });
    const since = now();
    await note(two);
    test.clock.advance({ ms: 1 });
    const later = now();
    expect(await idsOf(`/api/orders?sort=updated&updatedSince=${since}`)).toEqual([two]);
    expect(await idsOf(`/api/orders?sort=updated&updatedSince=${later}`)).toEqual([]);
    expect((await test.backOffice.get(`/api/orders?updatedSince=${since}`)).body.data).toHaveLength(1);
    await processDuePayments(test);
    expect((await idsOf(`/api/orders?sort=updated&updatedSince=${later}`)).sort()).toEqual(
      [one, two, three].sort(),
    );
    const detail = (await test.backOffice.get(`/api/orders/${one}`)).body;
    expect(detail.updatedAt).toBe(later);
    await createFacility(test);
    await acceptAll(test);
    const accepted = now();
    test.clock.advance({ ms: 1 });
    await routeAll(test);
    expect((await test.backOffice.get(`/api/orders/${one}`)).body.updatedAt > accepted).toBe(true);
  });

  it("do not tell a partner of a note", async () => {
    const [one = ""] = await placeThree();
    const read = async () => (await partner.client.get(`/v1/orders/${one}`)).body.updatedAt;
    const before = await read();
    test.clock.advance({ ms: 1 });
    const since = now();
    await note(one);
    expect(await read()).toBe(before);
    const developer = developerOf(test, partner);
    expect((await developer.get(`/api/orders/${one}`)).body.updatedAt).toBe(before);
    expect((await developer.get("/api/orders")).body.data.at(-1).updatedAt).toBe(before);
    expect((await developer.get(`/api/orders?updatedSince=${since}`)).body.data).toEqual([]);
    expect((await developer.get("/api/orders?sort=updated")).status).toBe(403);
  });

  it("cannot be searched, and have a cursor of their own", async () => {
    expectErrors(await test.backOffice.get("/api/orders?sort=updated&q=x"), [{ parameter: "sort" }]);
    await placeThree();
    const { nextCursor } = (await test.backOffice.get("/api/orders?limit=1")).body;
    expectErrors(await test.backOffice.get(`/api/orders?sort=updated&cursor=${nextCursor}`), [
      { parameter: "cursor" },
    ]);
  });
});

describe("products sorted by change", () => {
  it("begin with the one that has not changed for longest, from a time on", async () => {
    const path = `/api/merchants/${partner.merchantId}/products`;
    const [one, two] = partner.productIds;
    test.clock.advance({ ms: 1 });
    const since = now();
    const three = await createProduct(test, partner.merchantId);
    test.clock.advance({ ms: 1 });
    await test.backOffice.request("PATCH", `/api/products/${one}`, { body: { name: "Other" } });
    for (const limit of [1, 2, 100]) {
      expect(await idsOf(`${path}?sort=updated&limit=${limit}`)).toEqual([two, three, one]);
      expect(await idsOf(`${path}?updatedSince=${since}&limit=${limit}`)).toEqual([three, one]);
    }
    expect(await idsOf(`${path}?updatedSince=${since}&q=other`)).toEqual([one]);
    expect(await idsOf(`${path}?updatedSince=${since}&exposed=true&limit=1`)).toEqual([one]);
    expect(await idsOf(`${path}?sort=updated&connectionId=${partner.connectionId}`)).toEqual([two, one]);
    expectErrors(await test.backOffice.get(`${path}?updatedSince=${since}&sort=oldest`), [
      { parameter: "sort" },
    ]);
    expectErrors(await test.backOffice.get(`${path}?sort=updated&cursor=x`), [{ parameter: "cursor" }]);
  });
});

it("stock since a time has changed at or after it", async () => {
  const facility = await createFacility(test);
  const [one, two] = partner.productIds;
  await setStock(test, facility, one, 1);
  await setStock(test, facility, two, 1);
  test.clock.advance({ ms: 1 });
  const since = now();
  await setStock(test, facility, one, 2);
  for (const path of [`/api/facilities/${facility}/stock`, `/api/merchants/${partner.merchantId}/stock`]) {
    const { body } = await test.backOffice.get(`${path}?updatedSince=${since}`);
    expect(body.data.map(({ productId }: { productId: string }) => productId)).toEqual([one]);
  }
});
