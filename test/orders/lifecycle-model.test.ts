import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { histories } from "../support/histories.ts";
import { readOrder } from "../support/orders.ts";
import { eventsOf, transition, typesOf } from "../support/sandbox.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

/**
 * Random histories against a small model of part 3 of the specification, written from its text (and docs/design/lifecycle.md)
 * and not from the code. After every transition, service and model must agree about every order.
 */
let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 10 } });
});
afterAll(() => test.close());

type Model = {
  status: string;
  reasons: string[];
  /** By line, the position of its shipment in `shipments`; null while it is unshipped. */
  lines: (number | null)[];
  shipments: ("pending" | "shipped" | "returned")[];
  events: string[];
};

/** Null: applied. A text: the rule that rejects it. A number: another HTTP status, such as 422. */
type Expected = null | string | number;

const settled = (model: Model): boolean => ["COMPLETED", "CANCELED", "RETURNED"].includes(model.status);

function settle(model: Model, status: string, event: string): null {
  Object.assign(model, { status, reasons: [] });
  model.events.push(event);
  return null;
}

type Command =
  | { name: "process" | "accept" | "releaseHold" | "complete" | "cancel" | "partnerCancel" | "explode" }
  | { name: "hold"; reasons?: string[] | undefined }
  /** Lines and shipments by position; a position out of range means an id that the order does not have. */
  | { name: "ship"; lines?: number[] | undefined }
  | { name: "returnShipment"; shipment?: number | undefined };

function expectCommand(model: Model, command: Command): Expected {
  if (command.name === "explode") return 422;
  if (command.name === "partnerCancel") {
    if (model.status === "CANCELED") return null;
    if (settled(model)) return 409;
    if (model.status !== "NEW" && !model.reasons.includes("payment_failed")) return 409;
    return settle(model, "CANCELED", "order.canceled");
  }
  if (command.name === "returnShipment") return expectReturn(model, command.shipment);
  if (command.name === "ship" && command.lines?.some((line) => line >= model.lines.length)) return 422;
  if (settled(model)) return "order_settled";
  switch (command.name) {
    case "process":
      model.status = "PROCESSING";
      return null;
    case "accept":
      model.status = "ACCEPTED";
      return null;
    case "hold":
      model.reasons = command.reasons ?? ["out_of_stock"];
      model.events.push("order.onHold");
      return null;
    case "releaseHold":
      if (model.reasons.length > 0) model.events.push("order.onHoldReleased");
      model.reasons = [];
      return null;
    case "ship":
      return expectShip(model, command.lines);
    case "complete":
      if (model.lines.includes(null)) return "unshipped_lines";
      model.shipments = model.shipments.map((status) => (status === "pending" ? "shipped" : status));
      return settle(model, "COMPLETED", "order.completed");
    case "cancel":
      return settle(model, "CANCELED", "order.canceled");
  }
}

function expectShip(model: Model, asked: number[] | undefined): Expected {
  if (model.reasons.length > 0) return "order_on_hold";
  const unshipped = [...model.lines.keys()].filter((line) => model.lines[line] === null);
  const shipped = asked ?? unshipped;
  if (shipped.length === 0 || !shipped.every((line) => unshipped.includes(line))) return "nothing_to_ship";
  for (const line of shipped) model.lines[line] = model.shipments.length;
  model.shipments.push("pending");
  model.status = "IN_PROGRESS";
  model.events.push("order.shipmentCreated");
  return null;
}

function expectReturn(model: Model, asked: number | undefined): Expected {
  if (asked !== undefined && asked >= model.shipments.length) return 422;
  const shipment = asked ?? model.shipments.findLastIndex((status) => status !== "returned");
  if ((model.shipments[shipment] ?? "returned") === "returned") return "no_shipment_out";
  model.shipments[shipment] = "returned";
  return settle(model, "RETURNED", "order.shipmentReturned");
}

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Command[]>({ name: "process" }, { name: "accept" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant("hold" as const),
      reasons: fc.option(
        fc.uniqueArray(fc.constantFrom("payment_failed", "out_of_stock", "x"), { minLength: 1 }),
        { nil: undefined },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Command>({ name: "releaseHold" }) },
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant("ship" as const),
      lines: fc.option(fc.array(fc.nat(3), { maxLength: 3 }), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant("returnShipment" as const),
      shipment: fc.option(fc.nat(3), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ name: "complete" }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Command[]>({ name: "cancel" }, { name: "partnerCancel" }, { name: "explode" }),
  },
);

/** Applies a transition over HTTP; positions become the ids that `order` has there. */
function execute(command: Command, order: Answer["body"]): Promise<Answer> {
  const idAt = (things: { id: string }[], place: number) =>
    things[place]?.id ?? "line_01hzzzzzzzzzzzzzzzzzzzzzzz";
  switch (command.name) {
    case "partnerCancel":
      return partner.client.post(`/v1/orders/${order.id}/cancel`);
    case "hold":
      return transition(partner, order.id, "hold", { reasons: command.reasons });
    case "ship":
      return transition(partner, order.id, "ship", {
        lineIds: command.lines?.map((line) => idAt(order.lines, line)),
      });
    case "returnShipment":
      return transition(partner, order.id, "returnShipment", {
        shipmentId: command.shipment === undefined ? undefined : idAt(order.shipments, command.shipment),
      });
    default:
      return transition(partner, order.id, command.name);
  }
}

/** What the model and the wire can both be reduced to. */
function summary(order: Answer["body"]) {
  const positionOf = new Map(
    order.shipments.map(({ id }: { id: string }, position: number) => [id, position]),
  );
  return {
    status: order.status,
    onHold: order.onHold,
    reasons: order.onHoldReasons,
    lines: order.lines.map((line: { shipmentId: string | null }) =>
      line.shipmentId === null ? null : positionOf.get(line.shipmentId),
    ),
    shipments: order.shipments.map((shipment: { status: string }) => shipment.status),
  };
}

describe("test orders, by random transitions", () => {
  it("agree with the model at every transition, and publish events without gaps", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        fc.array(anyCommand, { minLength: 1, maxLength: 14 }),
        async (lineCount, review, commands) => {
          const quantity = review ? 11 : 1;
          const lines = Array.from({ length: lineCount }, () => ({
            productId: partner.productIds[0],
            quantity,
          }));
          const { id } = await placeTestOrder(partner, { lines });
          const model: Model = {
            status: review ? "PROCESSING" : "NEW",
            reasons: [],
            lines: lines.map(() => null),
            shipments: [],
            events: ["order.created"],
          };
          let order = await readOrder(partner, id);
          for (const command of commands) {
            const statusBefore = model.status;
            const expectation = expectCommand(model, command);
            const { status, body } = await execute(command, order);
            if (expectation === null) expect(status).toBe(200);
            else if (typeof expectation === "number") expect(status).toBe(expectation);
            else {
              expect(status).toBe(409);
              expect(body).toMatchObject({
                rule: expectation,
                transition: command.name,
                orderStatus: statusBefore,
              });
              expect(body.type).toMatch(/\/transition-refused$/);
            }
            order = await readOrder(partner, id);
            if (expectation === null) expect(body).toEqual(order);
            const { reasons, shipments, lines: shipped } = model;
            const expected = {
              status: model.status,
              onHold: reasons.length > 0,
              reasons,
              lines: shipped,
              shipments,
            };
            expect(summary(order)).toEqual(expected);
            const events = await eventsOf(test, id);
            expect(typesOf(events)).toEqual(model.events);
            expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
          }
        },
      ),
      histories({ change: 12, release: 60 }),
    );
  });
});
