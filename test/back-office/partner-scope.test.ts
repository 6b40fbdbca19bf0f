import { beforeAll, describe, expect, it } from "vitest";
import { personOf } from "../support/back-office-resources.ts";
import { createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createFacility, createSibling, routeAll } from "../support/facilities.ts";
import { connectionKey } from "../support/orders.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let sibling: Partner;
let orderId: string;
let person: Client;
let token: Client;

beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 100 } });
  sibling = await createSibling(test, partner);
  await createFacility(test);
  orderId = (await placeAcceptedOrder(test, partner, { externalOrderId: "mine-1" })).id;
  await routeAll(test);
  await operationApplied(test, orderId, "hold", { reasons: ["fraud_check"] });
  await placeOrder(sibling, { externalOrderId: "theirs-1" });
  person = developerOf(partner);
  const fields = { name: "Script", role: "partner", connectionIds: [partner.connectionId], scopes: ["*"] };
  token = test.backOfficeAs((await test.backOffice.post("/api/tokens", fields)).body.token);
  await token.get("/api/me"); // Its next use is not recorded.
  return () => test.close();
});

const developerOf = (...partners: Partner[]): Client =>
  test.backOfficeFor({ kind: "partner", name: "Dev", connections: partners.map(connectionKey) });

const idsOf = async (client: Client, path: string): Promise<string[]> => {
  const { status, body } = await client.get(path);
  expect(status, path).toBe(200);
  return body.data.map(({ id }: { id: string }) => id);
};

describe.each(["a person", "a token"])("%s of a partner", (who) => {
  const client = () => (who === "a person" ? person : token);

  it("has lists of its connection only", async () => {
    expect(await idsOf(client(), "/api/connections")).toEqual([partner.connectionId]);
    expect(await idsOf(client(), `/api/connections?merchantId=${partner.merchantId}`)).toHaveLength(1);
    for (const query of ["", "?status=ACCEPTED", "?onHold=true", `?q=${orderId}`, "?q=mine-1"])
      expect(await idsOf(client(), `/api/orders${query}`), query).toEqual([orderId]);
    expect(await idsOf(client(), `/api/orders?connectionId=${sibling.connectionId}`)).toEqual([]);
    expect(await idsOf(client(), "/api/order-references?externalOrderId=mine-1")).toEqual([orderId]);
    expect(await idsOf(client(), "/api/order-references?externalOrderId=theirs-1")).toEqual([]);
  });

  it("sees the order, and nothing of the merchant's business with it", async () => {
    const merchants = (await test.backOffice.get(`/api/orders/${orderId}`)).body;
    expect(merchants.charges).not.toEqual([]);
    const { status, body } = await client().get(`/api/orders/${orderId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: orderId,
      externalOrderId: "mine-1",
      onHold: true,
      shippingAddress: { countryCode: "GB" },
      goods: null,
      facilityId: null,
      routedAt: null,
      charges: [],
      refunds: [],
      actions: [],
      holds: [{ reason: "fraud_check", placedBy: { kind: "operator", name: null, id: null } }],
    });
    expect(body.lines).toMatchObject([{ productId: partner.productIds[0], unitPrice: null }]);
    const operations = body.timeline.map(({ operation }: { operation: string }) => operation);
    expect(operations).toEqual(["create", "accept", "hold"]);
    for (const { actor, detail } of body.timeline)
      expect({ ...actor, detail }).toMatchObject({ name: null, detail: null });
    const listed = (await client().get("/api/orders")).body.data[0];
    expect(listed).toMatchObject({ goods: null, facilityId: null, routedAt: null });
    for (const text of [JSON.stringify(body), JSON.stringify(listed)])
      expect(text).not.toMatch(/"amount"|"EUR"/);
  });

  it("sees its connection without the merchant's review policy, and the usage", async () => {
    const path = `/api/connections/${partner.connectionId}`;
    expect((await client().get(path)).body).toMatchObject({ id: partner.connectionId, reviewPolicy: null });
    expect((await client().get(`${path}/usage`)).status).toBe(200);
  });

  it("issues and revokes test keys, and no live ones", async () => {
    const path = `/api/connections/${partner.connectionId}/keys`;
    const live = await createKey(test, partner.connectionId);
    const before = await dumpTables(test);
    for (const body of [{}, { mode: "live" }]) {
      const { status, body: problem } = await client().post(path, body);
      expect([status, problem.code]).toEqual([403, "forbidden"]);
    }
    expect((await client().post(`/api/keys/${live.id}/revoke`)).status).toBe(403);
    expect(await dumpTables(test)).toEqual(before);
    const made = await client().post(path, { mode: "test" });
    expect(made.status).toBe(201);
    expect(await idsOf(client(), path)).toEqual(expect.arrayContaining([live.id, made.body.id]));
    expect((await client().post(`/api/keys/${made.body.id}/revoke`)).body.revokedAt).not.toBeNull();
    expect(await idsOf(client(), `/api/connections/${partner.connectionId}/keys?live=false`)).toContain(
      made.body.id,
    );
  });
});

describe("a person of a partner and of a merchant", () => {
  it("sees each order as the role that shows it does", async () => {
    const other = await createPartner(test);
    const otherOrder = await placeOrder(other);
    const grants = [
      { role: "partner", connections: [connectionKey(partner)] } as const,
      { role: "merchant", merchantIds: [connectionKey(other).merchantId] } as const,
    ];
    const both = test.backOfficeFor({ name: "Both", grants });
    expect((await idsOf(both, "/api/orders")).sort()).toEqual([orderId, otherOrder.id].sort());
    expect((await idsOf(both, "/api/connections")).sort()).toEqual(
      [partner.connectionId, other.connectionId].sort(),
    );
    expect((await both.get(`/api/orders/${orderId}`)).body.goods).toBeNull();
    expect((await both.get(`/api/orders/${otherOrder.id}`)).body.goods).toMatchObject({ currency: "EUR" });
    const { data } = (await both.get("/api/orders")).body;
    expect(data.map(({ goods }: { goods: unknown }) => goods === null).sort()).toEqual([false, true]);
    // A live key is the merchant's to issue, for its own connections.
    const live = { mode: "live" };
    expect((await both.post(`/api/connections/${other.connectionId}/keys`, live)).status).toBe(201);
    expect((await both.post(`/api/connections/${partner.connectionId}/keys`, live)).status).toBe(403);
    expect((await both.get(`/api/connections/${other.connectionId}`)).body.reviewPolicy).not.toBeNull();
  });

  it("sees an order once, as the merchant does, if both roles show it", async () => {
    const grants = [
      { role: "partner", connections: [connectionKey(partner)] } as const,
      { role: "merchant", merchantIds: [connectionKey(partner).merchantId] } as const,
    ];
    const both = test.backOfficeFor({ name: "Both", grants });
    const ids = await idsOf(both, "/api/orders");
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.sort()).toEqual((await idsOf(personOf(test, partner.merchantId), "/api/orders")).sort());
    expect((await both.get(`/api/orders/${orderId}`)).body.goods).not.toBeNull();
  });

  it("has no right of one connection on another one", async () => {
    const client = developerOf(partner);
    for (const path of ["", "/usage", "/keys"])
      expect((await client.get(`/api/connections/${sibling.connectionId}${path}`)).status, path).toBe(404);
    const both = developerOf(partner, sibling);
    expect((await both.get(`/api/connections/${sibling.connectionId}`)).status).toBe(200);
    expect(await idsOf(both, "/api/connections")).toHaveLength(2);
  });
});
