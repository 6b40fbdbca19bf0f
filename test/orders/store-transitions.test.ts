import { expect, it } from "vitest";
import { SERVICE } from "../../src/lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition } from "../../src/lifecycle/lifecycle.ts";
import type { Order, Transition } from "../../src/lifecycle/order.ts";
import { storeTransitions } from "../../src/orders/changes/store-transitions.ts";
import { parseOrderRef } from "../../src/orders/order-wire.ts";
import { lockOrder } from "../../src/orders/orders-sql.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { NO_SIGNALS } from "../../src/platform/signals.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  acceptAll,
  createFacility,
  createSibling,
  expectStockAddsUp,
  readOperations,
  readStock,
  routeAll,
  setStock,
} from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey, readOrder, readOrderEvents } from "../support/orders.ts";
import { moves } from "../support/payments.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint, readRows } from "../support/webhooks.ts";

/** An order, whose it is, and what happens to it, one after the other. */
type Change = { partner: Partner; id: string; transitions: Transition[] };

/** Applies and stores all changes in one transaction; returns the names of the statements that stored them. */
async function storeTogether(test: TestService, changes: readonly Change[]): Promise<string[]> {
  const names: string[] = [];
  await test.db.transaction(async (tx) => {
    const at = { newId: test.context.newId, now: test.clock.now() };
    const applied = [];
    for (const { partner, id, transitions } of changes) {
      let order: Order | undefined = await lockOrder(
        tx,
        connectionKey(partner),
        parseOrderRef(id),
        test.clock,
      );
      for (const transition of transitions) {
        if (order === undefined) throw new Error(`There is no order ${id}.`);
        const outcome = applyTransition(order, transition, at.now);
        expect(outcome.outcome).toBe("applied");
        applied.push(...appliedTransitions(order, outcome, { actor: SERVICE, operation: transition.name }));
        order = outcome.order;
      }
    }
    const counted: Queryable = {
      ...tx,
      query(statement) {
        names.push(statement.name);
        return tx.query(statement);
      },
    };
    await storeTransitions(counted, applied, at);
  });
  return names;
}

const eventsOf = async (test: TestService, partner: Partner, id: string) =>
  (await readOrderEvents(test, partner, id)).map(({ type, sequence }) => `${sequence} ${type}`);

it("stores transitions of several merchants and connections together, each with its effects", async () => {
  const test = await startServiceForTest();
  const one = await createPartner(test);
  const sibling = await createSibling(test, one);
  const other = await createPartner(test);
  const facility = await createFacility(test);
  for (const { productIds } of [one, other]) await setStock(test, facility, productIds[0], 10);
  const endpoint = await createEndpoint(other, { eventTypes: ["order.onHold", "order.onHoldReleased"] });
  const [canceled, shipped, held, changed] = await Promise.all(
    [one, sibling, other, one].map((partner) => placeOrder(partner)),
  );
  await acceptAll(test);
  await routeAll(test);
  const rehearsed = await placeTestOrder(other);

  await storeTogether(test, [
    { partner: one, id: canceled.id, transitions: [{ name: "cancel" }] },
    {
      partner: sibling,
      id: shipped.id,
      transitions: [{ name: "ship", lineIds: null, newShipmentId: test.context.newId() }],
    },
    { partner: other, id: held.id, transitions: [{ name: "hold", reasons: ["merchant_request"] }] },
    {
      partner: one,
      id: changed.id,
      transitions: [{ name: "addHold", reasons: ["customs"] }, { name: "releaseHold" }],
    },
    {
      partner: other,
      id: rehearsed.id,
      transitions: [{ name: "hold", reasons: ["out_of_stock"] }, { name: "cancel" }],
    },
  ]);

  expect(await readOrder(one, canceled.id)).toMatchObject({ status: "CANCELED" });
  expect(await eventsOf(test, one, canceled.id)).toEqual(["1 order.created", "2 order.canceled"]);
  expect(await moves(test, one, canceled.id)).toEqual(["goods 1 canceled", "shipping 1 canceled"]);
  expect(await readOperations(test, canceled.id)).toEqual(["accept", "route", "cancel"]);

  const sent = await readOrder(sibling, shipped.id);
  expect(sent).toMatchObject({ status: "IN_PROGRESS", shipments: [{ status: "pending" }] });
  expect(sent.lines.map(({ shipmentId }: { shipmentId: string }) => shipmentId)).toEqual([
    sent.shipments[0].id,
  ]);
  expect(await eventsOf(test, sibling, shipped.id)).toEqual(["1 order.created", "2 order.shipmentCreated"]);
  expect(await moves(test, sibling, shipped.id)).toEqual(["goods 1 pending", "shipping 1 pending"]);

  expect(await readOrder(other, held.id)).toMatchObject({ onHoldReasons: ["merchant_request"] });
  expect(await eventsOf(test, one, changed.id)).toEqual([
    "1 order.created",
    "2 order.onHold",
    "3 order.onHoldReleased",
  ]);
  expect(await readOperations(test, changed.id)).toEqual(["accept", "route", "addHold", "releaseHold"]);
  expect(await eventsOf(test, other, rehearsed.id)).toEqual([
    "1 order.created",
    "2 order.onHold",
    "3 order.canceled",
  ]);
  expect(await readRows(test, "deliveries", endpoint.id)).toHaveLength(2); // Both orders of that connection were held.

  expect(await readStock(test, facility, one.productIds[0])).toEqual({ onHand: 9, reserved: 1 });
  expect(await readStock(test, facility, other.productIds[0])).toEqual({ onHand: 10, reserved: 1 });
  await expectStockAddsUp(test);
});

it("needs the same statements for many orders of a merchant as for one", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const sibling = await createSibling(test, partner);
  const facility = await createFacility(test);
  await setStock(test, facility, partner.productIds[0], 10);
  const owners = [partner, partner, sibling, sibling, partner];
  const orders = await Promise.all(owners.map((owner) => placeOrder(owner)));
  await acceptAll(test);
  await routeAll(test);
  const [first, ...others] = orders.map(({ id }, index) => ({
    partner: owners[index] as Partner, // There is one for each order.
    id,
    transitions: [{ name: "cancel" } as const],
  }));
  const alone = await storeTogether(test, first === undefined ? [] : [first]);
  const together = await storeTogether(test, others);
  expect(together.map((name) => name.replace("save-orders", "save-order"))).toEqual(alone);
  expect(await readStock(test, facility, partner.productIds[0])).toEqual({ onHand: 10, reserved: 0 });
});

it("signals after a batch only the connections that have something to send", async () => {
  const test = await startServiceForTest();
  const [silent, wanting] = [await createPartner(test), await createPartner(test)];
  await createEndpoint(silent);
  await createEndpoint(wanting, { eventTypes: ["order.accepted", "order.onHold"] });
  const facility = await createFacility(test);
  for (const partner of [silent, wanting]) {
    await setStock(test, facility, partner.productIds[0], 0);
    await placeOrder(partner);
  }
  const signaled: string[][] = [];
  const send: TestService["context"]["signals"]["send"] = (signal, connections) => {
    expect(signal).toBe("deliveries_due");
    signaled.push([...connections].map(({ connectionId }) => connectionId));
  };
  const watched = { context: { ...test.context, signals: { ...NO_SIGNALS, send } } };
  const idOf = (partner: Partner) => connectionKey(partner).connectionId;

  test.clock.advance({ hours: 3 });
  expect(await runJob(watched, "accept-orders")).toBe(2);
  expect(signaled).toEqual([[idOf(wanting)]]);

  signaled.length = 0;
  await routeAll(watched); // There is no stock: both orders are put on hold.
  expect(signaled.map((ids) => ids.toSorted())).toEqual([[idOf(silent), idOf(wanting)].toSorted()]);
});
