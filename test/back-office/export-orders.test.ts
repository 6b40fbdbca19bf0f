import { beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { createPerson, signIn } from "../support/people.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

const ID = "01m7y7np16fe68bxp4h91tdmdn";

let test: TestService;
let one: Partner;
let other: Partner;
let near: string;
let far: string;
/** Orders, by the first word of what is special about them: their merchant, and the facility that they are routed to. */
const orders: Record<string, string> = {};

beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test);
  near = await createFacility(test);
  far = await createFacility(test);
  await setStock(test, near, one.productIds[0], 100);
  await setStock(test, far, one.productIds[1], 100);
  await setStock(test, far, other.productIds[0], 100);
  const place = async (name: string, partner: Partner, index: 0 | 1) => {
    const lines = [{ productId: partner.productIds[index], quantity: 1 }];
    orders[name] = (await placeOrder(partner, { externalOrderId: name, lines })).id;
  };
  await place("one-near", one, 0);
  await place("one-far", one, 1);
  await place("other-far", other, 0);
  await acceptAll(test);
  await routeAll(test);
  await place("one-new", one, 0);
  return () => test.close();
});

const clientOf = (...grants: Grant[]): Client => test.backOfficeFor({ name: "Mia", grants });
const asMerchant = (...partners: Partner[]): Grant => ({
  role: "merchant",
  merchantIds: partners.map(({ merchantId }) => fromTypeId("mer", merchantId) ?? ""),
});
const atFacility = (...ids: string[]): Grant => ({
  role: "warehouse",
  facilityIds: ids.map((id) => fromTypeId("fac", id) ?? ""),
});
const WHOLE_WAREHOUSE: Grant = { role: "warehouse", facilityIds: null };

async function exported(client: Client, query = ""): Promise<string[]> {
  const { status, body } = await client.get(`/api/orders/export?format=ndjson${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  const ids = String(body ?? "")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line).id]));
  return Object.keys(orders).filter((name) => ids.includes(orders[name]));
}
const auditOf = async () =>
  (await test.backOffice.get("/api/audit-entries?action=exportOrders&limit=100")).body.data;

describe("GET /api/orders/export", () => {
  it.each<[who: string, grants: () => Grant[], names: string[]]>([
    ["a merchant its own orders", () => [asMerchant(one)], ["one-near", "one-far", "one-new"]],
    [
      "staff of a facility the orders routed there, of all merchants",
      () => [atFacility(far)],
      ["one-far", "other-far"],
    ],
    [
      "staff of two facilities those of both",
      () => [atFacility(near, far)],
      ["one-near", "one-far", "other-far"],
    ],
    [
      "the whole warehouse all orders",
      () => [WHOLE_WAREHOUSE],
      ["one-near", "one-far", "other-far", "one-new"],
    ],
    [
      "a person of a merchant and of a facility what either shows",
      () => [asMerchant(other), atFacility(near)],
      ["one-near", "other-far"],
    ],
  ])("sends %s", async (_who, grants, names) => {
    expect(await exported(clientOf(...grants()))).toEqual(names);
  });

  it("is narrowed to a merchant, a connection and a facility within what the caller sees", async () => {
    const staff = clientOf(atFacility(far));
    expect(await exported(staff, `&merchantId=${one.merchantId}`)).toEqual(["one-far"]);
    expect(await exported(staff, `&connectionId=${other.connectionId}`)).toEqual(["other-far"]);
    expect(await exported(staff, `&facilityId=${near}`)).toEqual([]);
    const owner = clientOf(asMerchant(one));
    expect(await exported(owner, `&facilityId=${far}`)).toEqual(["one-far"]);
    expect(await exported(owner, "&status=NEW")).toEqual(["one-new"]);
    expect(await exported(test.backOffice, `&facilityId=${far}`)).toEqual(["one-far", "other-far"]);
  });

  it("answers another merchant, and its connection, as for missing ones", async () => {
    const owner = clientOf(asMerchant(one));
    for (const [foreign, missing] of [
      [`merchantId=${other.merchantId}`, `merchantId=mer_${ID}`],
      [`connectionId=${other.connectionId}`, `connectionId=con_${ID}`],
      [`merchantId=${one.merchantId}&connectionId=${other.connectionId}`, `connectionId=con_${ID}`],
    ]) {
      const answer = await owner.get(`/api/orders/export?${foreign}`);
      expect(answer.status).toBe(404);
      expect(withoutItsOwn(answer)).toBe(withoutItsOwn(await owner.get(`/api/orders/export?${missing}`)));
    }
  });

  it("is closed to support, to monitoring and to partners, and to a token without orders:read", async () => {
    for (const role of ["support", "monitoring"] as const)
      expect((await clientOf({ role }).get("/api/orders/export")).status, role).toBe(403);
    const fields = { name: "ERP", role: "merchant", merchantIds: [one.merchantId] };
    const { body } = await test.backOffice.post("/api/tokens", { ...fields, scopes: ["catalog:read"] });
    expect((await test.backOfficeAs(body.token).get("/api/orders/export")).body.code).toBe("scope-required");
  });

  it("leaves an entry for each merchant whose orders may be in the file, before it is sent", async () => {
    await exported(clientOf(asMerchant(one, other)), "&status=NEW");
    const [first, second] = await auditOf();
    expect([first.merchantId, second.merchantId].sort()).toEqual([one.merchantId, other.merchantId].sort());
    expect(first).toMatchObject({ actor: { kind: "merchant", name: "Mia" }, details: { status: "NEW" } });
    await exported(clientOf(atFacility(far)), `&facilityId=${far}`);
    const [entry] = await auditOf();
    expect(entry).toMatchObject({
      merchantId: null,
      actor: { kind: "warehouse" },
      details: { facilityId: far },
    });
  });

  it("needs recent authentication of a person of a merchant, too", async () => {
    const browser = await signIn(test, await createPerson(test, { grants: [asMerchant(one)] }));
    expect((await browser.get("/api/orders/export")).status).toBe(200);
    test.clock.advance({ minutes: 15 });
    expect((await browser.get("/api/orders/export")).body.code).toBe("recent-authentication-required");
  });
});
