import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rolesOf } from "../../src/back-office/access.ts";
import { ACTION_ROUTES } from "../../src/back-office/orders/actions.ts";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { REAL_ORDER_TRANSITIONS } from "../../src/lifecycle/possible-transitions.ts";
import { describeLifecycle } from "../../src/orders/reading/describe-lifecycle.ts";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { failPayment, readOrderEventTypes } from "../support/orders.ts";
import { processPaymentsWith, scriptedGateway } from "../support/payments.ts";
import {
  operationApplied,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

type Action = {
  name: keyof typeof ACTION_ROUTES;
  allowed: boolean;
  rule: string | null;
  reason: string | null;
  effect: string;
  status: string;
  eventTypes: string[];
  releasedReasons: string[];
  reasonsToName: string[];
};

let test: TestService;
let partner: Partner;
let reviewed: Partner;
let merchant: Client;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  reviewed = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
  merchant = personOf(test, partner.merchantId);
});
afterAll(() => test.close());

const accepted = async () => {
  const { id } = await placeAcceptedOrder(test, partner);
  await runJob(test, "process-payments");
  await runJob(test, "route-orders");
  return id;
};
const after = async (...operations: string[]) => {
  const id = await accepted();
  for (const operation of operations) await operationApplied(test, id, operation);
  return id;
};
const STATES: Record<string, () => Promise<string>> = {
  NEW: async () => (await placeOrder(partner)).id,
  "in review": async () =>
    (await placeOrder(reviewed, { lines: [{ productId: reviewed.productIds[0], quantity: 2 }] })).id,
  "ready to ship": accepted,
  "on hold": () => after("hold"),
  shipped: () => after("ship"),
  COMPLETED: () => after("ship", "complete"),
  CANCELED: () => after("cancel"),
  RETURNED: () => after("ship", "return"),
};

const REQUESTS: Record<Action["name"], { path: string; body?: object; method?: string }> = {
  approve: { path: "approve" },
  reject: { path: "reject" },
  hold: { path: "hold" },
  releaseHold: { path: "release-hold" },
  updateShippingAddress: { path: "shipping-address", method: "PATCH", body: { city: "Paris" } },
  ship: { path: "ship" },
  complete: { path: "complete" },
  returnShipment: { path: "return" },
  cancelLines: { path: "cancel-lines" },
  cancel: { path: "cancel" },
  retryPayment: { path: "retry-payment" },
  refund: {
    path: "refund",
    body: { amount: { amount: "1.00", currency: "EUR" }, reference: "ticket-1", reason: "goodwill" },
  },
  erasePersonalData: { path: "erase-personal-data" },
};
const request = async (id: string, name: Action["name"], client: Client = test.backOffice) => {
  const { path, method = "POST" } = REQUESTS[name];
  const body = name === "cancelLines" ? await oneUnit(id) : REQUESTS[name].body;
  return client.request(method, `/api/orders/${id}/${path}`, { body });
};
async function oneUnit(id: string) {
  const { lines } = await readDetail(test, id);
  return { lines: [{ lineId: lines.at(-1).id, quantity: 1 }], reason: "damaged", reference: "ticket-1" };
}
const actionsOf = async (id: string, client: Client = test.backOffice) =>
  (await readDetail(test, id, client)).actions as Action[];
const named = async (id: string, name: string, client?: Client) =>
  (await actionsOf(id, client)).find((action) => action.name === name);

/** What has nothing to change is not an error when it is requested. */
const HARMLESS = ["not_on_hold", "already_on_hold", "already_erased"];

describe("actions of GET /api/orders/{id}", () => {
  it("are those of the route table, for the roles that it admits", () => {
    for (const { operationId, admits } of Object.values(ACTION_ROUTES)) {
      const row = backOfficeRoutes.find((each) => each.operationId === operationId);
      expect(row && rolesOf(row).toSorted(), operationId).toEqual(admits.toSorted());
    }
  });

  it("are caused by the same callers as the lifecycle as data says, beside partners and the service", () => {
    for (const { transition, by } of describeLifecycle().realOrders) {
      const action = REAL_ORDER_TRANSITIONS.find((name) => name === transition);
      const operationId = action === undefined ? transition : ACTION_ROUTES[action].operationId;
      const row = backOfficeRoutes.find((route) => route.operationId === operationId);
      const staff = by.filter((cause) => cause !== "partner" && cause !== "service");
      expect(new Set(row?.admits ?? []), transition).toEqual(new Set(staff));
    }
    const described = describeLifecycle().realOrders.map(({ transition }) => transition);
    expect(described).toEqual(expect.arrayContaining([...REAL_ORDER_TRANSITIONS]));
  });

  it.each(Object.keys(STATES))("are what an order that is %s really accepts", async (state) => {
    const make = STATES[state] ?? accepted;
    const id = await make();
    const actions = await actionsOf(id);
    expect(actions).toHaveLength(Object.keys(ACTION_ROUTES).length);
    for (const { name, rule, reason } of actions.filter(({ allowed }) => !allowed)) {
      const { status, body } = await request(id, name);
      if (HARMLESS.includes(String(rule))) expect(status, name).toBe(200);
      else expect([status, body.rule, body.detail], name).toEqual([409, rule, reason]);
    }
    expect(await actionsOf(id)).toEqual(actions);
    for (const action of actions.filter(({ allowed }) => allowed)) {
      const { status, body } = await request(await make(), action.name);
      expect([200, 201], `${state} ${action.name} ${JSON.stringify(body)}`).toContain(status);
      expect(body.status, action.name).toBe(action.status);
    }
  });

  it("depend on the caller's role", async () => {
    const id = await accepted();
    const names = async (client: Client) => (await actionsOf(id, client)).map(({ name }) => name);
    expect(await names(merchant)).toEqual([
      "hold",
      "releaseHold",
      "updateShippingAddress",
      "cancelLines",
      "cancel",
      "retryPayment",
    ]);
    expect(await names(warehouseOf(test))).toEqual([
      "approve",
      "reject",
      "hold",
      "releaseHold",
      "ship",
      "complete",
      "returnShipment",
    ]);
  });

  it("forbid a merchant to cancel what has shipped, and to release what others placed", async () => {
    const shipped = await after("ship");
    expect(await named(shipped, "cancel", merchant)).toMatchObject({
      allowed: false,
      rule: "already_shipped",
    });
    expect(await named(shipped, "cancel")).toMatchObject({
      allowed: true,
      effect: "cancel_and_refund",
      eventTypes: ["order.canceled"],
    });
    const id = await accepted();
    await operationApplied(test, id, "hold", { reasons: ["fraud"] });
    expect(await named(id, "releaseHold", merchant)).toMatchObject({ rule: "hold_not_releasable" });
    expect(await named(id, "hold", merchant)).toMatchObject({ allowed: true });
    await operationApplied(test, id, "hold");
    expect(await named(id, "hold", merchant)).toMatchObject({ rule: "already_on_hold" });
    expect(await named(id, "releaseHold", merchant)).toMatchObject({ allowed: true });
  });

  it("follow the deadline, whether or not a worker has seen to it", async () => {
    const { id } = await placeOrder(partner);
    expect(await named(id, "ship")).toMatchObject({ rule: "not_accepted" });
    test.clock.advance({ hours: 2 });
    expect(await named(id, "ship")).toMatchObject({ allowed: true, status: "IN_PROGRESS" });
    expect((await request(id, "ship")).status).toBe(200);
  });

  it("are none for a test order", async () => {
    expect(await actionsOf((await placeTestOrder(partner)).id)).toEqual([]);
  });

  it("allow to ship right after the acceptance, because shipping routes the order first", async () => {
    const lines = [{ productId: reviewed.productIds[0], quantity: 2 }];
    const { id } = await placeOrder(reviewed, { lines });
    const { actions } = await operationApplied(test, id, "approve");
    const ship = (actions as Action[]).find(({ name }) => name === "ship");
    expect(ship).toMatchObject({
      allowed: true,
      rule: null,
      effect: "ship_all",
      status: "IN_PROGRESS",
      eventTypes: ["order.shipmentCreated"],
    });
    expect((await request(id, "ship")).status).toBe(200);
  });

  it("come with the response to a change", async () => {
    const body = await operationApplied(test, await accepted(), "hold");
    const release = (body.actions as Action[]).find(({ name }) => name === "releaseHold");
    expect(release).toMatchObject({ allowed: true, effect: "continue" });
  });
});

describe("the action releaseHold", () => {
  const release = async (id: string, client?: Client) => named(id, "releaseHold", client);
  /** Requests without reasons, and returns the new order with the type of its newest event. */
  async function released(id: string, client: Client = test.backOffice, body: object = {}) {
    const answer = await client.post(`/api/orders/${id}/release-hold`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return { ...answer.body, newest: (await readOrderEventTypes(test, partner, id)).at(-1) };
  }
  const held = async (...reasons: string[]) => {
    const { id } = await placeOrder(partner);
    for (const reason of reasons)
      if (reason === "payment_failed") await failPayment(test, partner, id);
      else await operationApplied(test, id, "hold", { reasons: [reason] });
    return id;
  };

  it("leaves to others what they have placed, and says that the order stays on hold", async () => {
    const id = await held("address_unserviceable");
    await requestOperation(test, id, "hold", { reasons: ["fraud"] }, warehouseOf(test));
    expect(await release(id, warehouseOf(test))).toMatchObject({
      allowed: true,
      effect: "release_some",
      eventTypes: ["order.onHold"],
      releasedReasons: ["fraud"],
      reasonsToName: [],
    });
    const { onHoldReasons, newest } = await released(id, warehouseOf(test));
    expect([onHoldReasons, newest]).toEqual([["address_unserviceable"], "order.onHold"]);
    expect(await release(id, warehouseOf(test))).toMatchObject({
      allowed: false,
      rule: "hold_not_releasable",
      releasedReasons: [],
      reasonsToName: [],
    });
  });

  it("keeps a failed payment unless it is named, and with it the acceptance", async () => {
    const id = await held("payment_failed", "fraud");
    test.clock.advance({ hours: 2 });
    expect(await release(id)).toMatchObject({
      allowed: true,
      effect: "release_some",
      status: "NEW",
      eventTypes: ["order.onHold"],
      releasedReasons: ["fraud"],
      reasonsToName: ["payment_failed"],
    });
    const { status, onHoldReasons, newest } = await released(id);
    expect([status, onHoldReasons, newest]).toEqual(["NEW", ["payment_failed"], "order.onHold"]);
  });

  it("waives the payment if there is nothing else to release, and must name it", async () => {
    const id = await held("payment_failed");
    test.clock.advance({ hours: 2 });
    expect(await release(id)).toMatchObject({
      allowed: true,
      effect: "waive_payment",
      status: "ACCEPTED",
      eventTypes: ["order.onHoldReleased"],
      releasedReasons: [],
      reasonsToName: ["payment_failed"],
    });
    expect(await release(id, merchant)).toMatchObject({ rule: "hold_not_releasable", reasonsToName: [] });
    expect((await request(id, "releaseHold")).body.rule).toBe("hold_not_releasable");
    const { status, newest } = await released(id, test.backOffice, { reasons: ["payment_failed"] });
    expect([status, newest]).toEqual(["ACCEPTED", "order.onHoldReleased"]);
  });

  it("names no reason of an order without a hold, and neither does any other action", async () => {
    const none = { releasedReasons: [], reasonsToName: [] };
    for (const action of await actionsOf(await held())) expect(action, action.name).toMatchObject(none);
    for (const action of await actionsOf(await held("fraud")))
      if (action.name !== "releaseHold") expect(action, action.name).toMatchObject(none);
  });
});

describe("the action retryPayment", () => {
  it("attempts a declined refund of a completed order again, and charges nothing", async () => {
    const id = await after("ship", "complete");
    await request(id, "refund");
    await processPaymentsWith(test, scriptedGateway(test, { decide: () => "declined" }));
    expect(await named(id, "retryPayment")).toMatchObject({ allowed: true, effect: "retry_refund" });
    const { charges } = await operationApplied(test, id, "retry-payment");
    expect(charges.map(({ kind, status }: { kind: string; status: string }) => `${kind} ${status}`)).toEqual([
      "goods succeeded",
      "refund failed",
      "refund pending",
    ]);
  });
});
