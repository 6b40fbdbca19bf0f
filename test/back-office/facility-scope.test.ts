import { beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll, ship } from "../support/facilities.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { readDetail } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

const ID = "01m7y7np16fe68bxp4h91tdmdn";

let test: TestService;
let partner: Partner;
let near: string;
let far: string;
/** Orders: routed to each facility, and routed nowhere yet. */
let nearOrder: string;
let farOrder: string;
let newOrder: string;
let farShipment: string;
let person: Client;
let token: Client;

beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  near = await createFacility(test);
  nearOrder = await placeRouted();
  await test.backOffice.post(`/api/facilities/${near}/close`);
  far = await createFacility(test);
  farOrder = await placeRouted({ externalOrderId: "far-1" });
  const shipped = await placeRouted();
  await ship(test, partner, shipped);
  farShipment = (await readDetail(test, shipped)).shipments[0].id;
  newOrder = (await placeOrder(partner)).id;
  person = staffOf(warehouseAt(near));
  const fields = { name: "Scanner", role: "warehouse", facilityIds: [near] };
  token = test.backOfficeAs((await test.backOffice.post("/api/tokens", fields)).body.token);
  await token.get("/api/me"); // Its next use is not recorded.
  return () => test.close();
});

async function placeRouted(fields: object = {}): Promise<string> {
  const { id } = await placeOrder(partner, fields);
  await acceptAll(test);
  await routeAll(test);
  return id;
}

const warehouseAt = (...ids: string[]): Grant => ({
  role: "warehouse",
  facilityIds: ids.map((id) => fromTypeId("fac", id) ?? ""),
});
const staffOf = (...grants: Grant[]): Client => test.backOfficeFor({ name: "Wilma", grants });
const idsOf = async (client: Client, path: string): Promise<string[]> => {
  const { status, body } = await client.get(path);
  expect(status, path).toBe(200);
  return body.data.map((row: { id?: string; orderId?: string }) => row.id ?? row.orderId);
};
/** The same requests about what exists and what does not. */
const withMissing = (path: string): string =>
  path
    .replace(far, `fac_${ID}`)
    .replace(farOrder, `ord_${ID}`)
    .replace(newOrder, `ord_${ID}`)
    .replace(farShipment, `shp_${ID}`);

describe.each(["a person", "a token"])("%s of one facility", (who) => {
  const client = () => (who === "a person" ? person : token);

  it("has lists of its orders, its work and its facility only", async () => {
    for (const path of [
      "/api/orders",
      "/api/orders?status=ACCEPTED",
      `/api/orders?merchantId=${partner.merchantId}`,
    ])
      expect(await idsOf(client(), path), path).toEqual([nearOrder]);
    expect(await idsOf(client(), `/api/orders?connectionId=${partner.connectionId}&limit=1`)).toEqual([
      nearOrder,
    ]);
    expect(await idsOf(client(), `/api/orders?q=${farOrder}`)).toEqual([]);
    expect(await idsOf(client(), "/api/order-references?externalOrderId=far-1")).toEqual([]);
    expect(await idsOf(client(), "/api/work-list")).toEqual([nearOrder]);
    expect(await idsOf(client(), `/api/work-list?facilityId=${far}`)).toEqual([]);
    expect(await idsOf(client(), "/api/facilities")).toEqual([near]);
    expect(await idsOf(client(), `/api/pick-lists?facilityId=${far}`)).toEqual([]);
  });

  it("gets the same response about others as about missing ones, and changes nothing", async () => {
    const orders = [farOrder, newOrder].flatMap((id) => [
      ["GET", `/api/orders/${id}`] as const,
      ...["ship", "complete", "approve", "reject", "hold", "release-hold"].map(
        (operation) => ["POST", `/api/orders/${id}/${operation}`] as const,
      ),
      ["POST", `/api/orders/${id}/return`, { shipmentId: farShipment }] as const,
    ]);
    const productId = partner.productIds[0];
    const requests: (readonly [method: string, path: string, body?: object])[] = [
      ...orders,
      ["GET", `/api/shipments/${farShipment}`],
      ["PATCH", `/api/shipments/${farShipment}`, { trackingNumber: "1" }],
      ["GET", `/api/facilities/${far}`],
      ["PATCH", `/api/facilities/${far}`, { name: "Mine" }],
      ["POST", `/api/facilities/${far}/close`],
      ["POST", `/api/facilities/${far}/open`],
      ["GET", `/api/facilities/${far}/rates`],
      ["PUT", `/api/facilities/${far}/rates`, { rates: [] }],
      ["GET", `/api/facilities/${far}/stock`],
      ["GET", `/api/facilities/${far}/stock/${productId}`],
      ["PUT", `/api/facilities/${far}/stock/${productId}`, { onHand: 5 }],
      ["POST", `/api/facilities/${far}/stock/${productId}/adjust`, { difference: 1, reason: "found" }],
      ["GET", `/api/facilities/${far}/stock-movements`],
    ];
    const before = await dumpTables(test);
    for (const [method, path, body = {}] of requests) {
      const options = method === "GET" ? {} : { body };
      const foreign = await client().request(method, path, options);
      const missing = await client().request(method, withMissing(path), options);
      expect(foreign.status, `${method} ${path}`).toBe(404);
      expect(withoutItsOwn(foreign), `${method} ${path}`).toBe(withoutItsOwn(missing));
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("takes no pick list of another facility or of none, and creates no facility", async () => {
    const before = await dumpTables(test);
    for (const facilityId of [far, `fac_${ID}`]) {
      const { status, body } = await client().post("/api/pick-lists", { facilityId, takenBy: "W" });
      expect(status).toBe(422);
      expect(body.errors).toEqual([
        { pointer: "/facilityId", rule: "not_found", kind: "facility", detail: "is not a facility" },
      ]);
    }
    const { body } = await client().post("/api/pick-lists", { takenBy: "W" });
    expect(body.errors).toMatchObject([
      { pointer: "/facilityId", detail: expect.stringContaining("is required") },
    ]);
    const facility = { name: "New", countryCode: "DE" };
    expect((await client().post("/api/facilities", facility)).status).toBe(403);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("works on its own: reads, puts on hold, counts, takes and gives back", async () => {
    const { body } = await client().get(`/api/orders/${nearOrder}`);
    expect(body).toMatchObject({ id: nearOrder, facilityId: near });
    expect((await client().get(`/api/facilities/${near}/stock`)).status).toBe(200);
    const work = (await client().post("/api/pick-lists", { facilityId: near, takenBy: who })).body;
    expect(work.orders).toMatchObject([{ orderId: nearOrder }]);
    const path = `/api/pick-lists/${work.pickList.id}`;
    const others = staffOf(warehouseAt(far));
    for (const step of ["", "/release"])
      expect((await others.request(step === "" ? "GET" : "POST", `${path}${step}`)).status).toBe(404);
    expect(await idsOf(others, "/api/pick-lists")).toEqual([]);
    expect((await client().post(`${path}/release`)).status).toBe(200);
    const held = await client().post(`/api/orders/${nearOrder}/hold`, { reasons: ["damaged"] });
    expect(held.body.holds).toMatchObject([{ reason: "damaged", placedBy: { kind: "warehouse" } }]);
    expect((await client().post(`/api/orders/${nearOrder}/release-hold`)).body.holds).toEqual([]);
  });
});

describe("several grants at once", () => {
  it("show what any of them shows, each order once", async () => {
    const merchantIds = [fromTypeId("mer", partner.merchantId) ?? ""];
    const all = (await idsOf(test.backOffice, "/api/orders")).sort();
    const both = staffOf(warehouseAt(near), { role: "merchant", merchantIds });
    expect((await idsOf(both, "/api/orders")).sort()).toEqual(all);
    expect(await idsOf(both, "/api/orders?limit=1")).toHaveLength(1);
    expect((await idsOf(staffOf(warehouseAt(near), warehouseAt(far)), "/api/orders")).sort()).toEqual(
      all.filter((id) => id !== newOrder),
    );
    const whole = staffOf(warehouseAt(near), { role: "warehouse", facilityIds: null });
    expect((await idsOf(whole, "/api/orders")).sort()).toEqual(all);
    expect(await idsOf(staffOf({ role: "warehouse", facilityIds: [] }), "/api/orders")).toEqual([]);
  });

  it("count for a row only if it admits their role", async () => {
    const other = await createPartner(test);
    const merchantIds = [fromTypeId("mer", other.merchantId) ?? ""];
    const both = staffOf(warehouseAt(near), { role: "merchant", merchantIds });
    // The warehouse may not cancel: as a merchant, the caller does not see this order.
    expect((await both.post(`/api/orders/${nearOrder}/cancel`)).status).toBe(404);
    expect((await both.get(`/api/orders/${nearOrder}`)).status).toBe(200);
    expect((await staffOf(warehouseAt(near)).post(`/api/orders/${nearOrder}/cancel`)).status).toBe(403);
  });

  it("act on an order in the role that shows it: the timeline and the rules for holds know which", async () => {
    const merchantIds = [fromTypeId("mer", partner.merchantId) ?? ""];
    const both = staffOf(warehouseAt(near), { role: "merchant", merchantIds });
    const path = `/api/orders/${farOrder}`;
    const wrong = await both.post(`${path}/hold`, { reasons: ["damaged"] });
    expect(wrong.body.errors).toMatchObject([{ pointer: "/reasons/0" }]);
    const { body } = await both.post(`${path}/hold`);
    expect(body.holds).toMatchObject([
      { reason: "merchant_request", placedBy: { kind: "merchant", name: "Wilma" } },
    ]);
    expect((await both.post(`${path}/release-hold`)).body.holds).toEqual([]);
    const held = await both.post(`/api/orders/${nearOrder}/hold`, { reasons: ["damaged"] });
    expect(held.body.holds).toMatchObject([{ placedBy: { kind: "warehouse" } }]);
    expect((await both.post(`/api/orders/${nearOrder}/release-hold`)).body.holds).toEqual([]);
  });
});

// Last: it lets the other orders be routed too.
describe("an order that moves to another facility", () => {
  it.each([
    ["hold", { reasons: ["damaged"] }],
    ["release-hold", { reasons: ["damaged"] }],
    ["return", {}],
  ])(
    "is no longer changed by %s of the first one's staff, who saw it just before",
    async (operation, body) => {
      const moved = await placeRouted({ externalOrderId: `moved-${operation}` });
      const staff = staffOf(warehouseAt(far));
      const requested = await test.db.transaction(async (tx) => {
        await tx.query({
          name: "test-move-order",
          text: "update orders set facility_id = $2 where merchant_id is not null and id = $1",
          values: [fromTypeId("ord", moved), fromTypeId("fac", near)],
        });
        const request = staff.post(`/api/orders/${moved}/${operation}`, body);
        await untilBlocked(test, 1);
        return { request };
      });
      expect((await requested.request).status).toBe(404);
      expect(await readDetail(test, moved)).toMatchObject({ facilityId: near, holds: [] });
      expect((await staff.get(`/api/orders/${moved}`)).status).toBe(404);
      expect((await person.get(`/api/orders/${moved}`)).status).toBe(200);
    },
  );
});
