import { beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { storeShipping, toShipOrder } from "../../src/fulfilment/shipping.ts";
import { SERVICE } from "../../src/lifecycle/applied-transition.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { connectionKey, expectErrors, readOrderEventTypes } from "../support/orders.ts";
import { operationApplied, operationsOf, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

const MISSING = "ord_01m7y7np16fe68bxp4h91tdmdn";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  return () => test.close();
});

const place = () =>
  placeAcceptedOrder(test, partner, {
    lines: partner.productIds.map((productId) => ({ productId, quantity: 2 })),
  });

async function ship(orders: object[], client: Client = test.backOffice) {
  const { status, body } = await client.post("/api/orders/ship", { orders });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.orders;
}

describe("POST /api/orders/ship", () => {
  it("ships each order as the route for one does, with all of its lines or with some units", async () => {
    const [whole, part] = [await place(), await place()];
    const data = await ship([
      { orderId: whole.id, carrier: "DHL", trackingNumber: "1Z", weightGrams: 900 },
      { orderId: part.id, lines: [{ lineId: part.lines[0].id, quantity: 1 }] },
    ]);
    expect(data).toMatchObject([
      {
        orderId: whole.id,
        shipment: { status: "shipped", carrier: "DHL", trackingNumber: "1Z", weightGrams: 900 },
        refusal: null,
      },
      { orderId: part.id, shipment: { status: "pending", lineIds: [part.lines[0].id] }, refusal: null },
    ]);
    for (const { orderId, shipment } of data)
      expect((await readDetail(test, orderId)).shipments).toEqual([shipment]);
    expect(await readOrderEventTypes(test, partner, whole.id)).toContain("order.shipmentCreated");
    expect(operationsOf(await readDetail(test, part.id)).at(-1)).toBe("ship by operator");
  });

  it("ships the others when one cannot, and says why", async () => {
    const [held, good, wrong] = [await place(), await place(), await place()];
    await operationApplied(test, held.id, "hold", { reasons: ["merchant_request"] });
    const data = await ship([
      { orderId: held.id },
      { orderId: MISSING },
      { orderId: wrong.id, lines: [{ lineId: "line_x", quantity: 1 }] },
      { orderId: good.id },
    ]);
    expect(data).toMatchObject([
      { shipment: null, refusal: { code: "transition-refused", rule: "order_on_hold", errors: [] } },
      { shipment: null, refusal: { code: "not-found", rule: null } },
      {
        shipment: null,
        refusal: { code: "validation-failed", errors: [{ pointer: "/lines/0/lineId", rule: "not_found" }] },
      },
      { shipment: { status: "pending" }, refusal: null },
    ]);
  });

  it("ships nothing twice when it is repeated, or names an order twice", async () => {
    const { id } = await place();
    const [first, second] = await ship([{ orderId: id }, { orderId: id }]);
    expect(first.refusal).toBeNull();
    expect(second.refusal).toMatchObject({ code: "transition-refused", rule: "nothing_to_ship" });
    const before = await dumpTables(test);
    expect((await ship([{ orderId: id }]))[0].refusal.rule).toBe("nothing_to_ship");
    expect(await dumpTables(test)).toEqual(before);
  });

  it("checks each order for the caller: that of another facility looks missing", async () => {
    const near = await createFacility(test);
    const routed = async () => {
      const { id } = await placeOrder(partner);
      await acceptAll(test);
      await routeAll(test);
      return id;
    };
    const own = await routed();
    await test.backOffice.post(`/api/facilities/${near}/close`);
    await createFacility(test);
    const foreign = await routed();
    const grant: Grant = { role: "warehouse", facilityIds: [fromTypeId("fac", near) ?? ""] };
    const staff = test.backOfficeFor({ name: "Wilma", grants: [grant] });
    const [other, missing, shipped] = await ship(
      [{ orderId: foreign }, { orderId: MISSING }, { orderId: own }],
      staff,
    );
    expect(other.refusal).toEqual(missing.refusal);
    expect(shipped.shipment).not.toBeNull();
    expect((await readDetail(test, foreign)).shipments).toEqual([]);
  });

  it("takes from 1 to 100 orders, and ships none of a request with an error", async () => {
    const { id } = await place();
    const send = (orders: object[]) => test.backOffice.post("/api/orders/ship", { orders });
    expectErrors(await send([]), [{ pointer: "/orders" }]);
    const many = Array.from({ length: 101 }, () => ({ orderId: id }));
    expectErrors(await send(many), [{ pointer: "/orders" }]);
    expectErrors(await send([{ orderId: id }, { carrier: "DHL" }]), [{ pointer: "/orders/1/orderId" }]);
    expect((await readDetail(test, id)).shipments).toEqual([]);
    expect(await ship(many.slice(1))).toHaveLength(100);
  });
});

describe("requests to ship that arrive together", () => {
  const shipEach = (ids: readonly string[]) =>
    Promise.all(
      ids.map((id) => test.backOffice.post(`/api/orders/${id}/ship`, { trackingNumber: `T${id}` })),
    );
  const placeMany = async (count: number): Promise<string[]> => {
    const placed = await Promise.all(Array.from({ length: count }, () => placeOrder(partner)));
    await acceptAll(test);
    await routeAll(test);
    return placed.map(({ id }) => id);
  };

  it("take as many statements as few, also with orders that are not accepted yet", async () => {
    const { context, names } = countStatements(test.context);
    const by = { actor: SERVICE, requestId: null, action: "shipOrder" };
    const staff = { grants: [{ role: "operator" }], by } as const;
    const count = async (orders: number) => {
      const placed = await Promise.all(Array.from({ length: orders }, () => placeOrder(partner)));
      test.clock.advance({ hours: 2 });
      names.length = 0;
      const answers = await storeShipping<never>(
        placed.map(({ id }) => {
          const key = { ...connectionKey(partner), id: fromTypeId("ord", id) ?? "" };
          return toShipOrder(context, staff, key, { carrier: "DHL", trackingNumber: `N${id}` });
        }),
      );
      expect(answers.map((answer) => "status" in answer && answer.status)).toEqual(
        placed.map(() => "IN_PROGRESS"),
      );
      return [...names];
    };
    const few = await count(2); // One alone is saved by a statement of its own.
    expect(await count(20)).toEqual(few);
  });

  it("have an answer each: what one is refused for, or the database rejects, keeps no other back", async () => {
    const [held = "", blocked = "", ...good] = await placeMany(8);
    await operationApplied(test, held, "hold");
    const repair = await blockOrderChanges(test, blocked);
    const answers = await shipEach([held, blocked, ...good]);
    expect(answers.map(({ status }) => status)).toEqual([409, 500, ...good.map(() => 200)]);
    await repair();
    expect((await shipEach([blocked]))[0]).toMatchObject({ status: 200, body: { status: "IN_PROGRESS" } });
    for (const id of good)
      expect(await readOrderEventTypes(test, partner, id)).toEqual([
        "order.created",
        "order.shipmentCreated",
      ]);
  });

  it("are asked about a tracking number that another one of them has", async () => {
    const [one, other] = await placeMany(2);
    const [first, second] = await ship([
      { orderId: one, trackingNumber: "SAME-1" },
      { orderId: other, trackingNumber: "same 1" },
    ]);
    expect(first.refusal).toBeNull();
    expect(second.refusal).toMatchObject({ rule: "tracking_number_repeated" });
  });
});
