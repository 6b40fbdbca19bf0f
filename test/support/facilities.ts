import { expect } from "vitest";
import { SERVICE } from "../../src/lifecycle/applied-transition.ts";
import { fromTypeId, toTypeId } from "../../src/platform/ids.ts";
import { created, createKey, exposeProduct, type Partner } from "./builders.ts";
import { runJob } from "./jobs.ts";
import { applyToOrder, connectionKey, readOrder, transitionOrder } from "./orders.ts";
import type { TestService } from "./test-service.ts";

/** A rate bracket: for a country, up to a weight, in EUR unless given otherwise. */
export const aRate = (
  fields: { country?: string; grams?: number; amount?: string; currency?: string } = {},
) => ({
  countryCode: fields.country ?? "GB",
  maxWeightGrams: fields.grams ?? 30_000,
  price: { amount: fields.amount ?? "5.00", currency: fields.currency ?? "EUR" },
});

/** A facility that ships to GB for 5.00 EUR, unless other rates are given; returns its id. */
export async function createFacility(
  test: TestService,
  { countryCode = "GB", rates = [aRate()] }: { countryCode?: string; rates?: object[] } = {},
): Promise<string> {
  test.clock.advance({ ms: 1 });
  const { id } = await created(test.backOffice.post("/api/facilities", { name: "Facility", countryCode }));
  await setRates(test, id, rates);
  return id;
}

export async function setRates(test: TestService, facilityId: string, rates: object[]): Promise<void> {
  const path = `/api/facilities/${facilityId}/rates`;
  const { status, body } = await test.backOffice.request("PUT", path, { body: { rates } });
  expect(status, JSON.stringify(body)).toBe(200);
}

export const putStock = (test: TestService, facilityId: string, productId: string, onHand: number) =>
  test.backOffice.request("PUT", `/api/facilities/${facilityId}/stock/${productId}`, { body: { onHand } });

export async function setStock(
  test: TestService,
  facilityId: string,
  productId: string,
  onHand: number,
): Promise<void> {
  const { status, body } = await putStock(test, facilityId, productId, onHand);
  expect(status, JSON.stringify(body)).toBe(200);
}

/** What lies at a facility, and how much of it is kept for orders. */
export async function readStock(test: TestService, facilityId: string, productId: string) {
  const { status, body } = await test.backOffice.get(`/api/facilities/${facilityId}/stock/${productId}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return { onHand: body.onHand, reserved: body.reserved };
}

/** Another connection of the same merchant, with the same products. */
export async function createSibling(test: TestService, partner: Partner): Promise<Partner> {
  const path = `/api/merchants/${partner.merchantId}/connections`;
  const { id } = await created(test.backOffice.post(path, { name: "Sibling" }));
  const { key } = await createKey(test, id);
  for (const productId of partner.productIds) await exposeProduct(test, id, productId);
  return { ...partner, client: test.partner(key), key, connectionId: id };
}

/** Lets the window of every order close, and accepts them. */
export async function acceptAll(test: TestService): Promise<void> {
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
}

export const routeAll = (test: Pick<TestService, "context">): Promise<number> => runJob(test, "route-orders");

/** Stock and reservations fit together, and nothing has been promised twice. */
export async function expectStockAddsUp(test: TestService): Promise<void> {
  const wrong = await test.db.query({
    name: "test-stock-that-does-not-add-up",
    text: `
      select s.facility_id, s.product_id, s.on_hand, s.reserved, kept.quantity
      from facility_stock s
      cross join lateral (
        select coalesce(sum(r.quantity), 0)::integer as quantity
        from stock_reservations r
        where r.merchant_id = s.merchant_id and r.facility_id = s.facility_id and r.product_id = s.product_id) as kept
      where s.reserved <> kept.quantity or s.reserved > s.on_hand`,
    values: [],
  });
  expect(wrong).toEqual([]);
  const strayed = await test.db.query({
    name: "test-reservations-of-wrong-lines",
    text: `
      select r.order_id, r.line_id
      from stock_reservations r
      join orders o on o.merchant_id = r.merchant_id and o.id = r.order_id
      join order_lines l on l.merchant_id = r.merchant_id and l.order_id = r.order_id and l.id = r.line_id
      where o.status not in ('ACCEPTED', 'IN_PROGRESS') or l.shipment_id is not null or l.cancellation_id is not null
        or r.facility_id <> o.facility_id or r.product_id <> l.product_id or r.quantity <> l.quantity`,
    values: [],
  });
  expect(strayed).toEqual([]);
}

/** Where orders are sent from, in the order of the ids given. */
export async function readRoutes(
  test: TestService,
  orderIds: readonly string[],
): Promise<{ facilityId: string | null; routedAt: Date | null }[]> {
  const rows = await test.db.query<{ id: string; facility_id: string | null; routed_at: Date | null }>({
    name: "test-read-routes",
    text: "select id, facility_id, routed_at from orders",
    values: [],
  });
  return orderIds.map((orderId) => {
    const row = rows.find(({ id }) => id === uuidOfOrder(orderId));
    if (row === undefined) throw new Error(`There is no order ${orderId}.`);
    const facilityId = row.facility_id === null ? null : toTypeId("fac", row.facility_id);
    return { facilityId, routedAt: row.routed_at };
  });
}

export async function readRoute(test: TestService, orderId: string) {
  const [route] = await readRoutes(test, [orderId]);
  return route;
}

/** What has been done with an order, oldest first. */
export async function readOperations(test: TestService, orderId: string): Promise<string[]> {
  const rows = await test.db.query<{ operation: string }>({
    name: "test-read-operations",
    text: "select operation from timeline_entries where order_id = $1 order by id",
    values: [uuidOfOrder(orderId)],
  });
  return rows.map(({ operation }) => operation);
}

/** What an order's merchant is to be charged for shipping, in minor units. */
export async function readShippingCharges(test: TestService, orderId: string): Promise<bigint[]> {
  const rows = await test.db.query<{ amount_minor: bigint }>({
    name: "test-read-shipping-charges",
    text: `
      select amount_minor from ledger_entries where order_id = $1 and kind = 'shipping'
      union all
      select amount_minor from due_payments where order_id = $1 and kind = 'shipping'`,
    values: [uuidOfOrder(orderId)],
  });
  return rows.map((row) => row.amount_minor);
}

const uuidOfOrder = (orderId: string): string | null =>
  fromTypeId("ord", orderId) ?? fromTypeId("test", orderId);

/** Ships lines of an order, given by their position in it, or all that are left. */
export async function ship(
  test: TestService,
  partner: Partner,
  orderId: string,
  positions: readonly number[] | null = null,
): Promise<void> {
  const { lines } = await readOrder(partner, orderId);
  const lineIds = positions?.map((position) => fromTypeId("line", lines[position].id) ?? "") ?? null;
  await transitionOrder(test, partner, orderId, {
    name: "ship",
    lineIds,
    newShipmentId: test.context.newId(),
  });
}

/** The newest shipment comes back; its goods are restocked if requested. */
export async function takeBack(
  test: TestService,
  partner: Partner,
  orderId: string,
  restock: boolean,
): Promise<void> {
  const transition = { name: "returnShipment", shipmentId: null } as const;
  const cause = { actor: SERVICE, operation: "returnShipment", restock };
  const outcome = await applyToOrder(test.context, connectionKey(partner), orderId, transition, cause);
  expect(outcome).toMatchObject({ outcome: "applied" });
}
