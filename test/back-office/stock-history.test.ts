import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { warehouseOf } from "../support/back-office-resources.ts";
import { createExposedProduct, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  acceptAll,
  createFacility,
  expectStockAddsUp,
  putStock,
  readStock,
  routeAll,
  setStock,
  ship,
  takeBack,
} from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
});
afterAll(() => test.close());

/** A product with its stock, and paths about it. */
async function stocked(onHand: number): Promise<string> {
  const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
  await setStock(test, facility, id, onHand);
  return id;
}
const adjust = (productId: string, body: object, at = facility) =>
  warehouseOf(test).post(`/api/facilities/${at}/stock/${productId}/adjust`, body);
const setIf = (productId: string, expectedOnHand: number, onHand: number) =>
  test.backOffice.request("PUT", `/api/facilities/${facility}/stock/${productId}`, {
    body: { onHand, expectedOnHand },
  });
const history = async (query: string) =>
  (await test.backOffice.get(`/api/facilities/${facility}/stock-movements?${query}`)).body.data;
const stepsOf = async (productId: string): Promise<unknown[]> =>
  (await history(`productId=${productId}`)).map(
    (movement: { kind: string; difference: number; onHand: number }) => [
      movement.kind,
      movement.difference,
      movement.onHand,
    ],
  );

/** An order of some units, routed to the facility. */
async function placeRouted(productId: string, quantity: number, externalOrderId?: string): Promise<string> {
  const { id } = await placeOrder(partner, {
    lines: [{ productId, quantity }],
    ...(externalOrderId !== undefined && { externalOrderId }),
  });
  await acceptAll(test);
  await routeAll(test);
  return id;
}

describe("GET /api/facilities/{id}/stock", () => {
  const found = async (query: string) =>
    (await test.backOffice.get(`/api/facilities/${facility}/stock?${query}`)).body.data;

  it("names its products, and finds them by SKU, name, barcode and what is left", async () => {
    const [few, many] = [await stocked(4), await stocked(5)];
    const names = { sku: "Löwe-7", name: "Lion, Golden", barcode: "4006381333931" };
    await test.backOffice.request("PATCH", `/api/products/${few}`, { body: names });
    const named = [{ productId: few, merchantId: partner.merchantId, ...names, available: 4 }];
    for (const q of ["löwe-", "GOLDEN", "4006381333931"])
      expect(await found(`q=${encodeURIComponent(q)}`)).toMatchObject(named);
    expect(await found("q=400638133393")).toEqual([]); // A part of a barcode is another one.
    const low = (await found("availableBelow=5")).map(({ productId }: { productId: string }) => productId);
    expect(low).toContain(few);
    expect(low).not.toContain(many);
    expect(await history(`productId=${few}`)).toMatchObject([{ sku: names.sku, name: names.name }]);
  });

  it.each(["availableBelow=0", "availableBelow=x"])("rejects %s", async (query) => {
    expect((await test.backOffice.get(`/api/facilities/${facility}/stock?${query}`)).status).toBe(422);
  });
});

describe("POST /api/facilities/{id}/stock/{productId}/adjust", () => {
  it("changes the quantity by the difference, and records why and by whom", async () => {
    const product = await stocked(10);
    const { status, body } = await adjust(product, { difference: -2, reason: "damaged", note: "Wet." });
    expect(status).toBe(200);
    expect(body).toMatchObject({ onHand: 8, reserved: 0, available: 8 });
    const [newest] = await history(`productId=${product}`);
    expect(newest).toMatchObject({
      kind: "adjusted",
      difference: -2,
      onHand: 8,
      reason: "damaged",
      note: "Wet.",
      reference: null,
      orderId: null,
      actor: { kind: "warehouse", name: "Wilma Packer" },
      merchantId: partner.merchantId,
    });
  });

  it("is made once for each reference, also when requests are concurrent", async () => {
    const product = await stocked(10);
    const body = { difference: 5, reason: "received", reference: "delivery 7" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => adjust(product, body)));
    expect(answers.map(({ status, body }) => [status, body.onHand])).toEqual(answers.map(() => [200, 15]));
    expect(await stepsOf(product)).toEqual([
      ["adjusted", 5, 15],
      ["set", 10, 10],
    ]);
    const other = await adjust(product, { ...body, difference: 6 });
    expect(other.body.errors).toMatchObject([{ pointer: "/reference" }]);
    const elsewhere = await stocked(1);
    expect((await adjust(elsewhere, body)).body.onHand).toBe(6);
  });

  it("loses none of twenty concurrent differences", async () => {
    const product = await stocked(100);
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => adjust(product, { difference: at - 10, reason: "correction" })),
    );
    const moved = Array.from({ length: 20 }, (_, at) => at - 10).reduce((sum, each) => sum + each, 0);
    expect((await readStock(test, facility, product)).onHand).toBe(100 + moved);
    expect(await stepsOf(product)).toHaveLength(1 + 19); // A difference of 0 is not one.
  });

  it("takes no unit that is reserved for an order", async () => {
    const product = await stocked(5);
    await placeRouted(product, 3);
    const before = await dumpTables(test);
    const rejected = await adjust(product, { difference: -3, reason: "lost" });
    expect(rejected.body.errors).toMatchObject([
      { pointer: "/difference", detail: expect.stringContaining("between -2 and 999999995") },
    ]);
    expect(await dumpTables(test)).toEqual(before);
    expect((await adjust(product, { difference: -2, reason: "lost" })).body).toMatchObject({
      onHand: 3,
      available: 0,
    });
  });

  it("takes units away also when a return has exceeded 1 000 000 000, and adds none", async () => {
    const product = await stocked(1_000_000_000);
    const id = await placeRouted(product, 5);
    await ship(test, partner, id);
    await setStock(test, facility, product, 1_000_000_000);
    await takeBack(test, partner, id, true);
    const rejected = await adjust(product, { difference: 1, reason: "found" });
    expect(rejected.body.errors).toMatchObject([
      { pointer: "/difference", detail: expect.stringContaining("between -1000000005 and 0") },
    ]);
    expect((await adjust(product, { difference: -1, reason: "lost" })).body.onHand).toBe(1_000_000_004);
    expect((await setIf(product, 1_000_000_004, 7)).body.onHand).toBe(7);
  });

  it("releases an order that waits for the goods", async () => {
    const product = await stocked(1);
    const id = await placeRouted(product, 2);
    expect((await test.backOffice.get(`/api/orders/${id}`)).body.onHoldReasons).toEqual(["out_of_stock"]);
    await adjust(product, { difference: 1, reason: "found" });
    await routeAll(test);
    expect((await test.backOffice.get(`/api/orders/${id}`)).body).toMatchObject({
      onHold: false,
      facilityId: facility,
    });
  });

  it("needs a stock record, a product and a facility", async () => {
    const product = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const body = { difference: 1, reason: "found" };
    expect((await adjust(product, body)).body).toMatchObject({
      status: 404,
      detail: "No such stock record.",
    });
    expect((await adjust("x", body)).status).toBe(404);
    expect((await adjust(product, body, "fac_x")).status).toBe(404);
    expect((await test.backOffice.get(`/api/facilities/${facility}/stock/${product}`)).status).toBe(404);
  });

  it.each([
    [{ difference: 0, reason: "found" }, "/difference"],
    [{ difference: 1.5, reason: "found" }, "/difference"],
    [{ difference: 1_000_000_001, reason: "found" }, "/difference"],
    [{ difference: 1, reason: "because" }, "/reason"],
    [{ difference: 1, reason: "found", note: "x".repeat(501) }, "/note"],
    [{ difference: 1, reason: "found", reference: 1 }, "/reference"],
  ])("rejects %j", async (body, pointer) => {
    const product = await stocked(1);
    const { status, body: problem } = await adjust(product, body);
    expect(status).toBe(422);
    expect(problem.errors).toMatchObject([{ pointer }]);
  });
});

describe("PUT /api/facilities/{id}/stock/{productId} with expectedOnHand", () => {
  it("is rejected with 409 if stock has moved since, and changes nothing", async () => {
    const product = await stocked(10);
    await adjust(product, { difference: -1, reason: "sample" });
    const before = await dumpTables(test);
    const { status, body } = await setIf(product, 10, 40);
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "stock-changed", onHand: 9 });
    expect(await dumpTables(test)).toEqual(before);
    expect((await setIf(product, 9, 40)).body.onHand).toBe(40);
  });

  it("treats a missing record as 0, and leaves a rejected product made to order", async () => {
    const product = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const before = await dumpTables(test);
    expect((await setIf(product, 3, 5)).body).toMatchObject({ code: "stock-changed", onHand: 0 });
    expect(await dumpTables(test)).toEqual(before);
    expect((await setIf(product, 0, 5)).status).toBe(200);
  });

  it("lets one of ten concurrent counts win", async () => {
    const product = await stocked(10);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => setIf(product, 10, 20 + at)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });
});

describe("GET /api/facilities/{id}/stock-movements", () => {
  it("shows what orders have shipped and returned, with the quantity after each", async () => {
    const product = await stocked(10);
    const [first, second] = [await placeRouted(product, 2, "shop-7"), await placeRouted(product, 3)];
    await ship(test, partner, first);
    await ship(test, partner, second);
    await takeBack(test, partner, first, true);
    await takeBack(test, partner, second, false);
    expect(await stepsOf(product)).toEqual([
      ["returned", 2, 7],
      ["shipped", -3, 5],
      ["shipped", -2, 8],
      ["set", 10, 10],
    ]);
    const [returned] = await history(`productId=${product}&kind=returned`);
    expect(returned).toMatchObject({ orderId: first, actor: { kind: "service" }, reason: null });
    expect(returned.externalOrderId, "what the partner calls the order").toBe("shop-7");
    expect((await history(`productId=${product}`)).at(-1).externalOrderId, "no order").toBeNull();
    await expectStockAddsUp(test);
  });

  it("explains each of several lines of one shipment", async () => {
    const product = await stocked(10);
    const line = (quantity: number) => ({ productId: product, quantity });
    const { id } = await placeOrder(partner, { lines: [line(1), line(4)] });
    await acceptAll(test);
    await routeAll(test);
    await ship(test, partner, id);
    const steps = await stepsOf(product);
    expect(steps.slice(0, 2).map((step) => (step as number[])[2])).toEqual([5, expect.any(Number)]);
    expect(
      steps
        .slice(0, 2)
        .map((step) => (step as number[])[1])
        .sort(),
    ).toEqual([-1, -4]);
  });

  it("has no entry if nothing moved: a repeated count, a reservation, a canceled order", async () => {
    const product = await stocked(10);
    await putStock(test, facility, product, 10);
    const id = await placeRouted(product, 2);
    await test.backOffice.post(`/api/orders/${id}/cancel`, {});
    expect(await stepsOf(product)).toEqual([["set", 10, 10]]);
  });

  it("is paged, newest first, and has no other filter", async () => {
    const product = await stocked(1);
    for (const onHand of [2, 3, 4]) await setStock(test, facility, product, onHand);
    const path = `/api/facilities/${facility}/stock-movements?productId=${product}&limit=3`;
    const first = (await test.backOffice.get(path)).body;
    expect(first.data.map(({ onHand }: { onHand: number }) => onHand)).toEqual([4, 3, 2]);
    const next = (await test.backOffice.get(`${path}&cursor=${first.nextCursor}`)).body;
    expect(next).toMatchObject({ data: [{ onHand: 1 }], nextCursor: null });
    expect(await history(`productId=${product}&kind=shipped`)).toEqual([]);
    expect((await test.backOffice.get(`${path}&kind=unknown`)).status).toBe(422);
    expect(
      (await test.backOffice.get(`/api/facilities/${facility}/stock-movements?merchantId=x`)).status,
    ).toBe(422);
    expect((await test.backOffice.get("/api/facilities/fac_x/stock-movements")).status).toBe(404);
  });

  it("is deleted after two years, together with the references of adjustments", async () => {
    const product = await stocked(1);
    const body = { difference: 1, reason: "found", reference: "once" };
    await adjust(product, body);
    test.clock.advance({ hours: 24 * 730 });
    expect(await stepsOf(product)).toHaveLength(2);
    test.clock.advance({ hours: 1 });
    expect(await runJob(test, "purge-stock-movements")).toBeGreaterThanOrEqual(2);
    expect(await stepsOf(product)).toEqual([]);
    expect((await adjust(product, body)).body.onHand).toBe(3);
  });
});
