import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import {
  applied,
  eventsOf,
  expectRejected,
  transition,
  transitionPath,
  typesOf,
} from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** Test orders in every status that the sandbox can bring about. */
const WAYS: Record<string, string[]> = {
  NEW: [],
  PROCESSING: ["process"],
  ACCEPTED: ["accept"],
  IN_PROGRESS: ["ship"],
  COMPLETED: ["ship", "complete"],
  CANCELED: ["cancel"],
  RETURNED: ["ship", "returnShipment"],
};

async function testOrderThat(...transitions: string[]): Promise<string> {
  const { id } = await placeTestOrder(partner);
  for (const name of transitions) await applied(partner, id, name);
  return id;
}

describe("POST /v1/test/orders/{orderId}/transitions", () => {
  it("returns 200 and the full order, exactly as a read shows it", async () => {
    const { id } = await placeTestOrder(partner);
    for (const name of ["process", "accept", "hold", "releaseHold", "ship", "complete", "returnShipment"]) {
      expect(await applied(partner, id, name), name).toEqual(await readOrder(partner, id));
    }
  });

  it("takes the external id in the path, percent-encoded", async () => {
    const { id } = await placeTestOrder(partner, { externalOrderId: "PO 1/ä?" });
    const answer = await transition(partner, "PO 1/ä?", "accept");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, status: "ACCEPTED" });
  });

  it("ignores fields of other transitions and fields it does not know", async () => {
    const { id } = await placeTestOrder(partner);
    const fields = { reasons: ["x"], lineIds: ["y"], shipmentId: "z", status: "COMPLETED", unknown: 1 };
    const order = await applied(partner, id, "accept", fields);
    expect(order).toMatchObject({ status: "ACCEPTED", onHold: false, shipments: [] });
  });

  it("changes no other order", async () => {
    const other = await placeTestOrder(partner);
    const real = await placeOrder(partner);
    const before = [await readOrder(partner, other.id), await readOrder(partner, real.id)];
    await testOrderThat("hold", "releaseHold", "ship", "complete", "returnShipment");
    expect([await readOrder(partner, other.id), await readOrder(partner, real.id)]).toEqual(before);
    expect(typesOf(await eventsOf(test, other.id))).toEqual(["order.created"]);
  });
});

describe("there is no need to follow the chain in order", () => {
  it.each([
    ["accept, then process", ["accept", "process"], "PROCESSING"],
    ["ship without accepting", ["ship"], "IN_PROGRESS"],
    ["ship a PROCESSING order", ["process", "ship"], "IN_PROGRESS"],
    ["accept again after shipping", ["ship", "accept"], "ACCEPTED"],
    ["process again after shipping", ["ship", "process"], "PROCESSING"],
    ["complete a shipped order that was set back", ["ship", "process", "complete"], "COMPLETED"],
    ["return before completion", ["ship", "returnShipment"], "RETURNED"],
    ["cancel after shipping", ["ship", "cancel"], "CANCELED"],
    ["the same transition twice", ["accept", "accept"], "ACCEPTED"],
  ])("%s", async (_title, transitions, status) => {
    expect(await readOrder(partner, await testOrderThat(...transitions))).toMatchObject({ status });
  });
});

describe("rule 3: a settled order accepts nothing further except returnShipment", () => {
  for (const settled of ["COMPLETED", "CANCELED", "RETURNED"]) {
    it.each(["process", "accept", "hold", "releaseHold", "ship", "complete", "cancel"])(
      `${settled} rejects %s with order_settled`,
      async (name) => {
        const id = await testOrderThat(...(WAYS[settled] ?? []));
        await expectRejected(test, partner, id, name, { orderStatus: settled, rule: "order_settled" });
      },
    );
  }

  it("a settled order also rejects a transition that names a shipped line", async () => {
    const id = await testOrderThat("ship", "complete");
    const lineIds = [(await readOrder(partner, id)).lines[0].id];
    const expected = { orderStatus: "COMPLETED", rule: "order_settled" };
    await expectRejected(test, partner, id, "ship", expected, { lineIds });
  });
});

describe("process, accept and cancel", () => {
  for (const from of ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"]) {
    it.each([
      ["process", "PROCESSING", []],
      ["accept", "ACCEPTED", []],
      ["cancel", "CANCELED", ["order.canceled"]],
    ])(`from ${from}: %s makes it %s and publishes %j`, async (name, status, published) => {
      const id = await testOrderThat(...(WAYS[from] ?? []));
      const before = await readOrder(partner, id);
      const eventsBefore = typesOf(await eventsOf(test, id));
      test.clock.advance({ seconds: 1 });
      const updatedAt = test.clock.now().toISOString();
      const order = await applied(partner, id, name);
      const sequence = before.sequence + published.length;
      expect(order).toEqual({ ...before, status, updatedAt, sequence, cancelableUntil: null });
      expect(typesOf(await eventsOf(test, id))).toEqual([...eventsBefore, ...published]);
    });
  }

  it("cancel does not require NEW, unlike the real cancel endpoint", async () => {
    const id = await testOrderThat("accept");
    expect((await partner.client.post(`/v1/orders/${id}/cancel`)).status).toBe(409);
    expect(await applied(partner, id, "cancel")).toMatchObject({ status: "CANCELED" });
  });

  it("cancel clears the hold, and publishes no order.onHoldReleased", async () => {
    const id = await testOrderThat("hold");
    const order = await applied(partner, id, "cancel");
    expect(order).toMatchObject({ status: "CANCELED", onHold: false, onHoldReasons: [] });
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created", "order.onHold", "order.canceled"]);
  });

  it("process and accept keep the hold", async () => {
    const id = await testOrderThat("hold");
    for (const name of ["process", "accept"]) {
      expect(await applied(partner, id, name)).toMatchObject({
        onHold: true,
        onHoldReasons: ["out_of_stock"],
      });
    }
  });
});

describe("404 not-found", () => {
  const missing = async (client: Partner["client"], orderId: string) => {
    const before = await dumpTables(test);
    const { status, body } = await client.post(transitionPath(orderId), { transition: "cancel" });
    expect(await dumpTables(test)).toEqual(before);
    const { instance, ...rest } = body;
    expect(instance).toBe(transitionPath(orderId));
    return { status, body: rest };
  };

  it("is the same for a real order, another connection's, an erased and an unknown order", async () => {
    const real = await placeOrder(partner, { externalOrderId: "the real one" });
    const expired = await placeTestOrder(partner, { externalOrderId: "the expired one" });
    test.clock.advance({ hours: 2 });
    const foreign = await placeTestOrder(await createPartner(test), { externalOrderId: "the foreign one" });
    const unknown = await missing(partner.client, "test_01hzzzzzzzzzzzzzzzzzzzzzzz");
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ title: "Resource not found", status: 404 });
    const others = [
      real.id,
      "the real one",
      real.id.replace("ord_", "test_"),
      foreign.id,
      "the foreign one",
      foreign.id.replace("test_", "ord_"),
      expired.id,
      "the expired one",
      "never seen",
      "test_",
      "undefined",
      "\u0000",
      "'; drop table orders; --",
    ];
    for (const id of others) expect(await missing(partner.client, id), id).toEqual(unknown);
  });

  it("returns 401 first for every caller without a key", async () => {
    const id = await testOrderThat();
    const { status, body } = await test.partner().post(transitionPath(id), { transition: "cancel" });
    expect(status).toBe(401);
    expect(body.type).toMatch(/\/unauthorized$/);
    expect(await readOrder(partner, id)).toMatchObject({ status: "NEW" });
  });
});

describe("transitions that arrive together", () => {
  it("ship a line once, however many callers request it", async () => {
    const { id } = await placeTestOrder(partner);
    const answers = await Promise.all(Array.from({ length: 10 }, () => transition(partner, id, "ship")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    for (const { status, body } of answers)
      if (status === 409) expect(body).toMatchObject({ rule: "nothing_to_ship", orderStatus: "IN_PROGRESS" });
    expect((await readOrder(partner, id)).shipments).toHaveLength(1);
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created", "order.shipmentCreated"]);
  });

  it("either hold or ship first, and an order on hold never ships", async () => {
    const { id } = await placeTestOrder(partner);
    const [hold, ship] = await Promise.all([
      transition(partner, id, "hold"),
      transition(partner, id, "ship"),
    ]);
    expect(hold.status).toBe(200);
    const types = typesOf(await eventsOf(test, id));
    if (ship.status === 200)
      expect(types).toEqual(["order.created", "order.shipmentCreated", "order.onHold"]);
    else {
      expect(ship.body).toMatchObject({ status: 409, rule: "order_on_hold", orderStatus: "NEW" });
      expect(types).toEqual(["order.created", "order.onHold"]);
    }
  });

  it("settle an order once", async () => {
    const id = await testOrderThat("ship");
    const names = ["complete", "cancel", "complete", "cancel"];
    const answers = await Promise.all(names.map((name) => transition(partner, id, name)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await eventsOf(test, id)).toHaveLength(3);
  });

  it("number their events without a gap", async () => {
    const { id } = await placeTestOrder(partner);
    await Promise.all(Array.from({ length: 12 }, () => transition(partner, id, "hold")));
    const events = await eventsOf(test, id);
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });
});
