import { beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, createProduct, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
/** With stock at both facilities, with stock at the far one alone, and made to order. */
let mug: string;
let bowl: string;
let spoon: string;
let near: string;
let far: string;
let owner: Client;

beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  other = await createPartner(test);
  near = await createFacility(test);
  far = await createFacility(test);
  [mug] = partner.productIds;
  bowl = await createProduct(test, partner.merchantId, {
    sku: "BOWL",
    name: "Bowl",
    barcode: "4006381333931",
  });
  spoon = await createProduct(test, partner.merchantId, { sku: "SPOON", name: "Spoon" });
  await setStock(test, near, mug, 10);
  await setStock(test, far, mug, 5);
  await setStock(test, far, bowl, 3);
  await setStock(test, near, other.productIds[0], 7);
  await placeOrder(partner, { lines: [{ productId: mug, quantity: 4 }] });
  await acceptAll(test);
  await routeAll(test);
  owner = clientOf(asMerchant(partner));
  return () => test.close();
});

const clientOf = (...grants: Grant[]): Client => test.backOfficeFor({ name: "Mia", grants });
const asMerchant = ({ merchantId }: Partner): Grant => ({
  role: "merchant",
  merchantIds: [fromTypeId("mer", merchantId) ?? ""],
});
const atFacility = (...ids: string[]): Grant => ({
  role: "warehouse",
  facilityIds: ids.map((id) => fromTypeId("fac", id) ?? ""),
});
const read = async (client: Client, path: string) => {
  const { status, body } = await client.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const stockPath = (query = "") => `/api/merchants/${partner.merchantId}/stock${query}`;
const skus = async (query: string) =>
  (await read(owner, stockPath(query))).data.map(({ productId }: { productId: string }) => productId);

describe("GET /api/merchants/{id}/stock", () => {
  it("lists the stocked products of the merchant, with what each facility has, and no others", async () => {
    const { data, nextCursor } = await read(owner, stockPath());
    expect(nextCursor).toBeNull();
    expect(data).toHaveLength(2);
    expect(data[0]).toMatchObject({
      merchantId: partner.merchantId,
      productId: mug,
      sku: "SKU-1",
      onHand: 15,
      reserved: 4,
      available: 11,
      facilities: [
        { facilityId: near, facilityName: "Facility", onHand: 10, reserved: 4, available: 6 },
        { facilityId: far, facilityClosedAt: null, onHand: 5, reserved: 0, available: 5 },
      ],
    });
    expect(data[1]).toMatchObject({ productId: bowl, barcode: "4006381333931", onHand: 3, available: 3 });
  });

  it("is read page by page", async () => {
    const first = await read(owner, stockPath("?limit=1"));
    const second = await read(owner, stockPath(`?limit=1&cursor=${first.nextCursor}`));
    expect([...first.data, ...second.data].map(({ productId }) => productId)).toEqual([mug, bowl]);
    expect(second.nextCursor).toBeNull();
  });

  it.each([
    ["sku=BOWL", () => [bowl]],
    ["sku=SPOON", () => []],
    ["q=bow", () => [bowl]],
    ["q=4006381333931", () => [bowl]],
    ["available=true", () => [mug, bowl]],
    ["available=false", () => []],
    ["availableBelow=4", () => [bowl]],
    ["sku=BOWL&availableBelow=3", () => []],
  ])("is narrowed by %s", async (query, expected) => {
    expect(await skus(`?${query}`)).toEqual(expected());
  });

  it("counts what a closed facility has as on hand, and not as available", async () => {
    await test.backOffice.post(`/api/facilities/${far}/close`);
    const { data } = await read(owner, stockPath());
    expect(data[0]).toMatchObject({ onHand: 15, available: 6 });
    expect(data[1]).toMatchObject({ onHand: 3, available: 0 });
    expect(await skus("?available=false")).toEqual([bowl]);
    await test.backOffice.post(`/api/facilities/${far}/open`);
  });

  it("is read by the operator, support and monitoring too, and not by staff of a facility", async () => {
    const seen = await read(owner, stockPath());
    for (const role of ["operator", "support", "monitoring"] as const)
      expect(await read(clientOf({ role }), stockPath()), role).toEqual(seen);
    expect((await clientOf(atFacility(near)).get(stockPath())).status).toBe(403);
  });

  it("answers another merchant exactly as for a missing one", async () => {
    const stranger = clientOf(asMerchant(other));
    const foreign = await stranger.get(stockPath());
    const missing = await stranger.get("/api/merchants/mer_01m7y7np16fe68bxp4h91tdmdn/stock");
    expect(foreign.status).toBe(404);
    expect(withoutItsOwn(foreign)).toBe(withoutItsOwn(missing));
  });

  it("needs the scope stock:read, which a merchant's token has unless it was left out", async () => {
    const fields = { name: "ERP", role: "merchant", merchantIds: [partner.merchantId] };
    const tokenWith = async (scopes?: string[]) =>
      test.backOfficeAs((await test.backOffice.post("/api/tokens", { ...fields, scopes })).body.token);
    expect((await (await tokenWith()).get(stockPath())).status).toBe(200);
    expect((await (await tokenWith(["stock:read"])).get(stockPath())).status).toBe(200);
    expect((await (await tokenWith(["catalog:read"])).get(stockPath())).status).toBe(403);
    const refused = await test.backOffice.post("/api/tokens", { ...fields, scopes: ["stock:write"] });
    expect(refused.status).toBe(422);
  });
});

describe("GET /api/products/{id}/stock", () => {
  const facilitiesSeen = async (client: Client, productId: string) =>
    (await read(client, `/api/products/${productId}/stock`)).data.map(
      ({ facilityId }: { facilityId: string }) => facilityId,
    );

  it("shows the merchant all facilities, and staff of a facility theirs", async () => {
    expect(await facilitiesSeen(owner, mug)).toEqual([near, far]);
    expect(await facilitiesSeen(owner, spoon)).toEqual([]);
    expect(await facilitiesSeen(clientOf(atFacility(far)), mug)).toEqual([far]);
    expect(await facilitiesSeen(clientOf({ role: "support" }), mug)).toEqual([near, far]);
  });

  it("shows a person with both roles all facilities for its own products only", async () => {
    const both = clientOf(asMerchant(partner), atFacility(far));
    expect(await facilitiesSeen(both, mug)).toEqual([near, far]);
    expect(await facilitiesSeen(both, other.productIds[0])).toEqual([]);
  });

  it("answers for another merchant's product as for a missing one", async () => {
    expect((await owner.get(`/api/products/${other.productIds[0]}/stock`)).status).toBe(404);
  });
});
