import { beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  expectStockAddsUp,
  readRoute,
  routeAll,
  setStock,
  ship,
} from "../support/facilities.ts";
import { readDetail } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let near: string;
let far: string;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  near = await createFacility(test);
  far = await createFacility(test, { countryCode: "DE", rates: [aRate()] });
});

const set = async (facility: string, state: "close" | "open") => {
  const { status, body } = await test.backOffice.post(`/api/facilities/${facility}/${state}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
async function placeAndRoute(): Promise<string> {
  const { id } = await placeOrder(partner);
  await acceptAll(test);
  await routeAll(test);
  return id;
}
const routeOf = async (orderId: string) => (await readRoute(test, orderId))?.facilityId;

describe("a closed facility", () => {
  it("gets no further order; orders go to another one", async () => {
    expect(await routeOf(await placeAndRoute())).toBe(near);
    expect(await set(near, "close")).toMatchObject({ id: near, closedAt: test.clock.now().toISOString() });
    expect(await routeOf(await placeAndRoute())).toBe(far);
    expect(await set(near, "open")).toMatchObject({ closedAt: null });
    expect(await routeOf(await placeAndRoute())).toBe(near);
  });

  it("keeps the orders that were routed to it, and ships them", async () => {
    const [product = ""] = partner.productIds;
    await setStock(test, near, product, 5);
    const id = await placeAndRoute();
    await set(near, "close");
    await routeAll(test);
    expect(await routeOf(id)).toBe(near);
    await ship(test, partner, id);
    await expectStockAddsUp(test);
  });

  it("lets orders wait if no other one is open, and gets them when it opens", async () => {
    await set(near, "close");
    await set(far, "close");
    const id = await placeAndRoute();
    expect((await readDetail(test, id)).onHoldReasons).toEqual(["address_unserviceable"]);
    await routeAll(test);
    expect(await routeOf(id)).toBeNull();
    await set(far, "open");
    await routeAll(test);
    expect((await readDetail(test, id)).onHold).toBe(false);
    expect(await routeOf(id)).toBe(far);
  });

  it("does not offer its goods, until it opens", async () => {
    const [product = ""] = partner.productIds;
    await setStock(test, near, product, 100);
    await set(near, "close");
    const id = await placeAndRoute();
    expect((await readDetail(test, id)).onHoldReasons).toEqual(["out_of_stock"]);
    await set(near, "open");
    await routeAll(test);
    expect(await routeOf(id)).toBe(near);
  });
});

describe("closing and opening", () => {
  it("show in lists, which can be filtered", async () => {
    await set(near, "close");
    const ids = async (query: string) =>
      (await test.backOffice.get(`/api/facilities${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual([near, far]);
    expect(await ids("?closed=true")).toEqual([near]);
    expect(await ids("?closed=false")).toEqual([far]);
    expect((await test.backOffice.get(`/api/facilities/${near}`)).body.closedAt).not.toBeNull();
  });

  it("have no further effect when they are repeated", async () => {
    await set(near, "close");
    const before = await dumpTables(test);
    test.clock.advance({ hours: 1 });
    await set(near, "close");
    await set(far, "open");
    expect(await dumpTables(test)).toEqual(before);
  });

  it("name an existing facility", async () => {
    for (const state of ["close", "open"])
      expect((await test.backOffice.post(`/api/facilities/fac_x/${state}`)).status).toBe(404);
  });
});
