import { expect, it } from "vitest";
import { createPartner, placeOrder } from "../support/builders.ts";
import {
  createFacility,
  expectStockAddsUp,
  readOperations,
  readShippingCharges,
  readStock,
  setStock,
} from "../support/facilities.ts";
import { runJob, storedStatuses } from "../support/jobs.ts";
import { readOrderEventTypes } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { startSecondForTest, tally, times } from "../support/two-services.ts";

/** A service with a facility, and an order whose acceptance window has just closed; no worker has run since. */
async function startWithDueOrder() {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const facility = await createFacility(test);
  await setStock(test, facility, partner.productIds[0], 3);
  const { id } = await placeOrder(partner);
  test.clock.advance({ hours: 2 });
  return { test, partner, facility, id };
}

const STORED_ONCE = ["accept", "route", "ship"];

it("ships an order once that is shipped many times at once, while the workers of two processes accept and route it", async () => {
  const { test, partner, facility, id } = await startWithDueOrder();
  const second = await startSecondForTest(test);
  const [answers] = await Promise.all([
    Promise.all(times(8, (n) => (n % 2 === 0 ? test : second).backOffice.post(`/api/orders/${id}/ship`, {}))),
    ...[test, second].flatMap((service) =>
      ["accept-orders", "route-orders"].map((job) => runJob(service, job)),
    ),
  ]);
  expect(tally(answers)).toEqual({ 200: 1, 409: 7 });
  // In any order: entries of the same millisecond are listed by ids that two processes made.
  expect((await readOperations(test, id)).toSorted()).toEqual(STORED_ONCE);
  expect(await readOrderEventTypes(test, partner)).toEqual(["order.created", "order.shipmentCreated"]);
  expect(await readShippingCharges(test, id)).toHaveLength(1);
  expect(await readStock(test, facility, partner.productIds[0])).toEqual({ onHand: 2, reserved: 0 });
  await expectStockAddsUp(test);
});

it("stores nothing of an acceptance, a route and a shipment that fail together, and all of it on the next request", async () => {
  const { test, partner, facility, id } = await startWithDueOrder();
  await test.db.runScript(`
    create function reject() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject before insert on shipments for each row execute function reject()`);
  expect((await test.backOffice.post(`/api/orders/${id}/ship`, {})).status).toBe(500);
  expect(await storedStatuses(test)).toEqual(["NEW"]);
  expect(await readOperations(test, id)).toEqual([]);
  expect(await readStock(test, facility, partner.productIds[0])).toEqual({ onHand: 3, reserved: 0 });
  await test.db.runScript("drop trigger reject on shipments");
  expect((await test.backOffice.post(`/api/orders/${id}/ship`, {})).status).toBe(200);
  expect(await readOperations(test, id)).toEqual(STORED_ONCE);
  await expectStockAddsUp(test);
});

it("accepts and routes nothing for a request that names another line", async () => {
  const { test, id } = await startWithDueOrder();
  const body = { lineIds: ["line_01m7y7np16fe68bxp4h91tdmdn"] };
  expect((await test.backOffice.post(`/api/orders/${id}/ship`, body)).status).toBe(422);
  expect(await storedStatuses(test)).toEqual(["NEW"]);
  expect(await readOperations(test, id)).toEqual([]);
});

it("rejects shipping an order that finds no stock, and keeps it on hold", async () => {
  const { test, partner, facility, id } = await startWithDueOrder();
  await setStock(test, facility, partner.productIds[0], 0);
  const { status, body } = await test.backOffice.post(`/api/orders/${id}/ship`, {});
  expect([status, body.rule]).toEqual([409, "order_on_hold"]);
  expect(await readOperations(test, id)).toEqual(["accept", "addHold"]);
  expect(await readOrderEventTypes(test, partner)).toEqual(["order.created", "order.onHold"]);
});
