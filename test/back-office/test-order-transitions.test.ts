import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { expectErrors, expectProblem, readOrder } from "../support/orders.ts";
import { applied, eventsOf, SANDBOX_TRANSITIONS, transition, typesOf } from "../support/sandbox.ts";
import { createTestOrder, testOrdersPath } from "../support/test-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const move = (orderId: string, name: string, fields: object = {}): Promise<Answer> =>
  test.backOffice.post(testOrdersPath(partner, `/${orderId}/transitions`), { transition: name, ...fields });
const read = (orderId: string): Promise<Answer> =>
  test.backOffice.get(testOrdersPath(partner, `/${orderId}`));
const setLimits = (limits: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });
async function entriesAbout(orderId: string, action: string) {
  const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${orderId}&action=${action}`);
  return body.data;
}

type Possible = {
  transition: string;
  isPossible: boolean;
  rule: string | null;
  changes: boolean;
  statusAfter: string;
  eventTypes: string[];
};

describe("the transitions of a test order", () => {
  it.each([
    ["a new order", []],
    ["an order on hold", ["hold"]],
    ["an order in review", ["process"]],
    ["a shipped order", ["ship"]],
    ["a canceled order", ["cancel"]],
    ["a completed order", ["ship", "complete"]],
    ["a returned order", ["ship", "returnShipment"]],
  ])("of %s happen as they were announced", async (_, steps) => {
    for (const name of SANDBOX_TRANSITIONS) {
      const { order } = await createTestOrder(test.backOffice, partner);
      for (const step of steps) expect((await move(order.id, step)).status).toBe(200);
      const before = await read(order.id);
      const announced: Possible = before.body.transitions.find(
        ({ transition: each }: Possible) => each === name,
      );
      const published = (await eventsOf(test, order.id)).length;
      const answer = await move(order.id, name);
      expect(answer.status, name).toBe(announced.isPossible ? 200 : 409);
      if (announced.isPossible) {
        expect(answer.body.order.status, name).toBe(announced.statusAfter);
        expect(answer.body.order, name).toEqual(await readOrder(partner, order.id));
      } else {
        const { status } = before.body.order;
        expectProblem(answer, 409, "transition-refused", {
          transition: name,
          orderStatus: status,
          rule: announced.rule,
        });
        expect([announced.changes, announced.statusAfter]).toEqual([false, status]);
      }
      const since = typesOf((await eventsOf(test, order.id)).slice(published));
      expect(since, name).toEqual(announced.eventTypes);
      const entries = await entriesAbout(order.id, "transitionTestOrder");
      expect(entries.length, name).toBe(steps.length + (announced.changes ? 1 : 0));
    }
  });

  it("take the fields of the sandbox, and check them", async () => {
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
    const { order } = await createTestOrder(test.backOffice, partner, { lines });
    const [line] = order.lines;
    const shipped = await move(order.id, "ship", { lineIds: [line.id], trackingNumber: "T1" });
    expect(shipped.body.order.shipments).toMatchObject([{ status: "shipped", lineIds: [line.id] }]);
    const held = await move(order.id, "hold", { reasons: ["fraud_check"] });
    expect(held.body.order.onHoldReasons).toEqual(["fraud_check"]);
    expectErrors(await move(order.id, "ship", { lineIds: ["line_x"] }), [{ pointer: "/lineIds/0" }]);
    expectErrors(await move(order.id, "fly"), [{ pointer: "/transition" }]);
  });

  it("end at the limit of the connection, also when they come at once", async () => {
    await setLimits({ testOrderTransitions: 3 });
    const { order } = await createTestOrder(test.backOffice, partner);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        number % 2 === 0 ? move(order.id, "hold") : transition(partner, order.id, "hold"),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expectProblem(await move(order.id, "cancel"), 409, "limit-reached", {
      limit: "testOrderTransitions",
      maximum: 3,
    });
  });

  it("name who moved the order", async () => {
    const { order } = await createTestOrder(test.backOffice, partner);
    await applied(partner, order.id, "hold");
    await move(order.id, "releaseHold");
    const { body } = await test.backOffice.get(`/api/orders/${order.id}`);
    const entries = body.timeline.map(
      ({ operation, actor }: { operation: string; actor: { kind: string } }) => [operation, actor.kind],
    );
    // The creation stays the partner's there. The audit log names who requested it.
    expect(entries).toEqual([
      ["create", "partner"],
      ["hold", "partner"],
      ["releaseHold", "operator"],
    ]);
  });
});
