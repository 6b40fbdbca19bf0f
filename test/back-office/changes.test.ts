import { beforeEach, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { developerOf, personOf, warehouseOf } from "../support/back-office-resources.ts";
import {
  countRows,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { endOfChanges, followChanges, objectsOf, readChangesPage } from "../support/changes.ts";
import { acceptAll, aRate, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { expectErrors } from "../support/orders.ts";
import { processDuePayments } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { type Client, startServiceForTest, type TestService } from "../support/test-service.ts";
import { tokensOf } from "../support/tokens.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
});

const charge = (orderId: string) => orderId.replace("ord_", "chg_");
const warehouseAt = (...ids: string[]): Client => {
  const grant: Grant = { role: "warehouse", facilityIds: ids.map((id) => fromTypeId("fac", id) ?? "") };
  return test.backOfficeFor({ name: "Wilma", grants: [grant] });
};

describe("GET /api/changes", () => {
  it("lists what was created, oldest first, with what each object belongs to", async () => {
    const cursor = await endOfChanges(test.backOffice);
    test.clock.advance({ minutes: 1 });
    const productId = await createProduct(test, partner.merchantId);
    test.clock.advance({ minutes: 1 });
    const order = await placeOrder(partner);
    test.clock.advance({ minutes: 1 });
    const endpoint = await createEndpoint(partner);
    const { changes } = await followChanges(test.backOffice, cursor);
    expect(objectsOf(changes)).toEqual([
      `product ${productId}`,
      `order ${order.id}`,
      `charge ${charge(order.id)}`,
      `endpoint ${endpoint.id}`,
    ]);
    const { merchantId, connectionId } = partner;
    const none = { connectionId: null, orderId: null, facilityId: null, gone: false };
    expect(changes).toMatchObject([
      { ...none, merchantId },
      { ...none, merchantId, connectionId, orderId: order.id, changedAt: order.createdAt },
      { ...none, merchantId, connectionId, orderId: order.id },
      { ...none, merchantId, connectionId },
    ]);
    expect(new Set(changes.map(({ id }) => id)).size).toBe(4);
  });

  it("names an order once for all that one operation changes of it, with its parts and the stock", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, partner.productIds[0], 5);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    const cursor = await endOfChanges(test.backOffice);
    await routeAll(test);
    const routed = await followChanges(test.backOffice, cursor);
    expect(objectsOf(routed.changes)).toEqual([
      `order ${id}`,
      expect.stringMatching(/^charge chg_/),
      `stock ${partner.productIds[0]}`,
    ]);
    expect(routed.changes).toMatchObject(routed.changes.map(() => ({ facilityId: facility })));
    const { shipments } = await operationApplied(test, id, "ship", {});
    const shipped = await followChanges(test.backOffice, routed.cursor);
    expect(objectsOf(shipped.changes)).toEqual([
      `order ${id}`,
      `shipment ${shipments[0].id}`,
      `stock ${partner.productIds[0]}`,
    ]);
  });

  it("has a version that grows with each change of an object", async () => {
    const { id } = await placeOrder(partner);
    for (const text of ["one", "two", "three"])
      await test.backOffice.post(`/api/orders/${id}/notes`, { text });
    const { changes } = await followChanges(test.backOffice);
    const versions = changes.filter(({ objectId }) => objectId === id).map(({ version }) => version);
    expect(versions).toHaveLength(4);
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
  });

  it("continues anywhere within a change, whatever the size of the pages", async () => {
    await placeOrder(partner);
    await placeOrder(partner);
    const { changes } = await followChanges(test.backOffice);
    expect(changes.length).toBeGreaterThan(5);
    for (const limit of [1, 2, 3, 100])
      expect((await followChanges(test.backOffice, null, { limit })).changes).toEqual(changes);
    expect((await followChanges(test.backOffice, null, { limit: 1 })).cursor).not.toBeNull();
  });

  it("is empty at its end, and a reader keeps its cursor", async () => {
    const { cursor } = await followChanges(test.backOffice);
    expect(await readChangesPage(test.backOffice, `cursor=${cursor}`)).toEqual({
      data: [],
      nextCursor: null,
    });
    const { id } = await placeOrder(partner);
    expect(objectsOf((await followChanges(test.backOffice, cursor)).changes)).toEqual([
      `order ${id}`,
      `charge ${charge(id)}`,
    ]);
  });

  it("says that a deleted endpoint is gone", async () => {
    const { id } = await createEndpoint(partner);
    const cursor = await endOfChanges(test.backOffice);
    await partner.client.request("DELETE", endpointPath(id));
    expect(objectsOf((await followChanges(test.backOffice, cursor)).changes)).toEqual([
      `endpoint ${id} gone`,
    ]);
  });

  it("shows one kind or one merchant on request", async () => {
    const other = await createPartner(test);
    const { id } = await placeOrder(partner);
    await placeOrder(other);
    const orders = await followChanges(test.backOffice, null, { query: "&kind=order", limit: 1 });
    expect(orders.changes.map(({ kind }) => kind)).toEqual(["order", "order"]);
    const own = await followChanges(test.backOffice, null, { query: `&merchantId=${partner.merchantId}` });
    expect(new Set(own.changes.map(({ merchantId }) => merchantId))).toEqual(new Set([partner.merchantId]));
    expect(objectsOf(own.changes)).toContain(`order ${id}`);
  });

  it("has no test orders", async () => {
    const cursor = await endOfChanges(test.backOffice);
    await placeTestOrder(partner);
    expect((await followChanges(test.backOffice, cursor)).changes).toEqual([]);
    expect(await countRows(test, "changes where order_id is not null")).toBe(0);
  });

  it("rejects what it cannot continue from", async () => {
    const { cursor } = await followChanges(test.backOffice);
    for (const bad of ["x", `${cursor}x`, "", "AAAA"])
      expectErrors(await test.backOffice.get(`/api/changes?cursor=${bad}`), [{ parameter: "cursor" }]);
    expectErrors(await test.backOffice.get(`/api/changes?cursor=${cursor}&from=now`), [
      { parameter: "from" },
    ]);
    for (const query of ["limit=0", "limit=201", "kind=parcel", "from=then", "merchantId=mer_1"])
      expect((await test.backOffice.get(`/api/changes?${query}`)).status, query).toBe(422);
  });
});

describe("a caller sees the changes", () => {
  it("of its own merchant only, as if there were no other", async () => {
    const other = await createPartner(test);
    await placeOrder(other);
    const { id } = await placeOrder(partner);
    await createEndpoint(partner);
    const merchant = personOf(test, partner.merchantId);
    const { changes } = await followChanges(merchant);
    expect(new Set(changes.map(({ merchantId }) => merchantId))).toEqual(new Set([partner.merchantId]));
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(
      new Set(["product", "order", "charge", "endpoint"]),
    );
    expect(objectsOf(changes)).toContain(`order ${id}`);
    expect(
      (await followChanges(merchant, null, { query: `&merchantId=${other.merchantId}` })).changes,
    ).toEqual([]);
  });

  it("of its facilities: what is routed there, and what was taken away", async () => {
    const near = await createFacility(test);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    const staff = warehouseAt(near);
    const before = await followChanges(staff);
    expect(new Set(before.changes.map(({ kind }) => kind))).toEqual(new Set(["product"]));
    await routeAll(test);
    const routed = await followChanges(staff, before.cursor);
    expect(objectsOf(routed.changes)).toEqual([`order ${id}`]);
    const far = await createFacility(test, { countryCode: "FR", rates: [aRate({ country: "FR" })] });
    await processDuePayments(test);
    await followChanges(staff, routed.cursor);
    const cursor = await endOfChanges(test.backOffice);
    const corrected = await test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, {
      body: { countryCode: "FR" },
    });
    expect(corrected.status, JSON.stringify(corrected.body)).toBe(200);
    await routeAll(test);
    expect(objectsOf((await followChanges(staff, cursor)).changes)).toEqual([`order ${id} gone`]);
    expect((await staff.get(`/api/orders/${id}`)).status).toBe(404);
    const there = (await followChanges(warehouseAt(far), cursor)).changes;
    expect(there).toMatchObject([{ kind: "order", objectId: id, gone: false, facilityId: far }]);
    const merchant = await followChanges(personOf(test, partner.merchantId), cursor);
    expect(merchant.changes.filter(({ gone }) => gone)).toEqual([]);
  });

  it("of orders and stock of all facilities without money and endpoints, as the warehouse", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, partner.productIds[0], 5);
    await placeOrder(partner);
    await createEndpoint(partner);
    const { changes } = await followChanges(warehouseOf(test));
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(["product", "stock", "order"]));
  });

  it("that the scopes of its token can read", async () => {
    const tokens = tokensOf(test);
    const merchantIds = [partner.merchantId];
    const withScopes = async (...scopes: string[]) =>
      test.backOfficeAs((await tokens.create({ role: "merchant", merchantIds, scopes })).body.token);
    await placeOrder(partner);
    const catalog = await withScopes("changes:read", "catalog:read");
    const { changes } = await followChanges(catalog);
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(["product"]));
    expect(await catalog.get("/api/changes?kind=order")).toMatchObject({
      status: 403,
      body: { code: "scope-required", scope: "orders:read" },
    });
    expect(await (await withScopes("orders:read")).get("/api/changes")).toMatchObject({
      status: 403,
      body: { scope: "changes:read" },
    });
  });

  it("and a partner follows its events instead", async () => {
    expect((await developerOf(test, partner).get("/api/changes")).status).toBe(403);
  });
});

describe("a cursor of the feed of changes", () => {
  const days = (count: number) => test.clock.advance({ hours: 24 * count });
  const dropped = () => runJob(test, "drop-old-partitions");

  it("that is too old is rejected, and never skips what was dropped", async () => {
    const { cursor } = await followChanges(test.backOffice);
    await placeOrder(partner);
    days(29);
    await runJob(test, "make-partitions");
    await dropped();
    expect((await followChanges(test.backOffice, cursor)).changes).not.toEqual([]);
    days(3);
    await runJob(test, "make-partitions");
    await dropped();
    expectErrors(await test.backOffice.get(`/api/changes?cursor=${cursor}`), [{ parameter: "cursor" }]);
    expect((await readChangesPage(test.backOffice, "")).data).toEqual([]);
  });

  it("in use never expires, also if nothing changes", async () => {
    let { cursor } = await followChanges(test.backOffice);
    for (let week = 0; week < 8; week += 1) {
      days(7);
      await runJob(test, "make-partitions");
      await dropped();
      const read = await followChanges(test.backOffice, cursor);
      expect(read.changes).toEqual([]);
      cursor = read.cursor;
    }
    const { id } = await placeOrder(partner);
    expect(objectsOf((await followChanges(test.backOffice, cursor)).changes)).toContain(`order ${id}`);
  });
});
