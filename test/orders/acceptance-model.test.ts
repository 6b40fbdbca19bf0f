import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JOBS } from "../../src/service/jobs.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { histories } from "../support/histories.ts";
import { readOrder, transitionOrder } from "../support/orders.ts";
import { eventsOf, typesOf } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/**
 * Random lives of real orders against a tiny model of the acceptance window, written from the text of the specification (part
 * 3, "Real orders") and docs/design/lifecycle.md, "A failed payment is a hold" and "The deadline decides", and not from the
 * code.
 */
let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 10 } });
});
afterAll(() => test.close());

type RealModel = {
  id: string;
  createdAtMs: number;
  /** As last set by a request; an acceptance by the deadline is not in it, but in `statusNow`. */
  status: "NEW" | "PROCESSING" | "CANCELED";
  accepted: boolean;
  paymentFailed: boolean;
  events: string[];
};

const WINDOW_MS = 2 * 60 * 60 * 1_000;
const nowMs = () => test.clock.now().getTime();

/** Acceptance is by the deadline alone: who looks, and when, makes no difference. */
function accept(model: RealModel): void {
  if (model.status === "NEW" && !model.paymentFailed && nowMs() >= model.createdAtMs + WINDOW_MS)
    model.accepted = true;
}
const statusNow = (model: RealModel) =>
  model.status === "NEW" && model.accepted ? "ACCEPTED" : model.status;

async function acceptByWorker(): Promise<void> {
  await JOBS.find(({ name }) => name === "accept-orders")?.run(test.context);
}

type RealCommand =
  | { name: "create"; review: boolean }
  | { name: "advance"; ms: number }
  /** To a moment just before, at, or just after the deadline of an order, if that lies ahead. */
  | { name: "approach"; order: number; ms: number }
  | { name: "cancel" | "cancelAndAccept" | "failPayment" | "pay"; order: number }
  | { name: "accept" };

const order = fc.nat(3);
const anyRealCommand: fc.Arbitrary<RealCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant("create" as const), review: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constant("advance" as const), ms: fc.nat(WINDOW_MS) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant("approach" as const),
      order,
      ms: fc.integer({ min: -1, max: 1 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constantFrom(
        "cancel" as const,
        "cancelAndAccept" as const,
        "failPayment" as const,
        "pay" as const,
      ),
      order,
    }),
  },
  { weight: 2, arbitrary: fc.constant<RealCommand>({ name: "accept" }) },
);

async function createReal(review: boolean): Promise<RealModel> {
  const lines = [{ productId: partner.productIds[0], quantity: review ? 11 : 1 }];
  const { id } = await placeOrder(partner, { lines });
  return {
    id,
    createdAtMs: nowMs(),
    status: review ? "PROCESSING" : "NEW",
    accepted: false,
    paymentFailed: false,
    events: ["order.created"],
  };
}

async function cancelReal(model: RealModel, alongside: Promise<void>): Promise<void> {
  const [{ status, body }] = await Promise.all([
    partner.client.post(`/v1/orders/${model.id}/cancel`),
    alongside,
  ]);
  if (model.status === "CANCELED") return expect(status).toBe(200);
  if (statusNow(model) !== "NEW" && !model.paymentFailed) {
    expect(status).toBe(409);
    return expect(body.orderStatus).toBe(statusNow(model));
  }
  expect(status, JSON.stringify(body)).toBe(200);
  model.status = "CANCELED";
  model.paymentFailed = false;
  model.events.push("order.canceled");
}

async function executeReal(orders: RealModel[], command: RealCommand): Promise<void> {
  if (command.name === "create") {
    orders.push(await createReal(command.review));
    return;
  }
  if (command.name === "advance") return test.clock.advance({ ms: command.ms });
  if (command.name === "accept") return acceptByWorker();
  const model = orders[command.order % Math.max(1, orders.length)];
  if (model === undefined) return;
  switch (command.name) {
    case "approach": {
      const ms = model.createdAtMs + WINDOW_MS + command.ms - nowMs();
      return test.clock.advance({ ms: Math.max(0, ms) });
    }
    case "cancel":
      return cancelReal(model, Promise.resolve());
    case "cancelAndAccept":
      return cancelReal(model, acceptByWorker());
    case "failPayment":
      if (model.status === "CANCELED") return;
      await transitionOrder(test, partner, model.id, { name: "hold", reasons: ["payment_failed"] });
      // Placed again, the hold has its reason already, and nothing is published (docs/design/lifecycle.md, "Holds").
      if (!model.paymentFailed) model.events.push("order.onHold");
      model.paymentFailed = true;
      return;
    case "pay":
      if (!model.paymentFailed) return;
      await transitionOrder(test, partner, model.id, {
        name: "releaseHold",
        reasons: ["payment_failed", "out_of_stock"],
      });
      model.paymentFailed = false;
      model.events.push("order.onHoldReleased");
  }
}

describe("real orders, with random times, cancels, payments and acceptance runs", () => {
  it("are accepted or canceled as in the model, never both, and no event is published for the acceptance", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRealCommand, { minLength: 1, maxLength: 14 }), async (commands) => {
        const orders = [await createReal(false)];
        for (const command of commands) {
          await executeReal(orders, command);
          orders.forEach(accept);
          for (const model of orders) {
            const order = await readOrder(partner, model.id);
            const status = statusNow(model);
            expect(order.status).toBe(status);
            expect(order.onHold).toBe(model.paymentFailed);
            const cancelable = status !== "CANCELED" && (status === "NEW" || model.paymentFailed);
            expect(order.cancelableUntil !== null, "cancelableUntil is set").toBe(cancelable);
            const events = await eventsOf(test, model.id);
            expect(typesOf(events)).toEqual(model.events);
            expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
          }
        }
      }),
      histories({ change: 10, release: 50 }),
    );
  });
});
