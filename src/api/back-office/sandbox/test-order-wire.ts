import { type Static, Type } from "typebox";
import type { Order } from "../../../lifecycle/order.ts";
import { possibleTransitions, SANDBOX_TRANSITIONS } from "../../../lifecycle/possible-transitions.ts";
import { detailOf, ruleSchema, TRANSITION_RULES } from "../../../orders/changes/transition-refused.ts";
import { TestOrderTransitionSchema } from "../../../orders/changes/transition-test-order.ts";
import { OrderSchema, OrderStatusSchema, toWireOrder } from "../../../orders/order-wire.ts";
import { dateTime, describedAs, nullable } from "../../../platform/wire/schemas.ts";
import { asPartnersSee } from "../../partner-schema.ts";

const PossibleTransitionSchema = Type.Object(
  {
    transition: describedAs(TestOrderTransitionSchema, "The transition."),
    isPossible: Type.Boolean({
      description: "Whether the lifecycle allows it now, if the request names no lines and no shipment.",
    }),
    rule: nullable(ruleSchema(TRANSITION_RULES), "The rule that forbids it. Null if it is possible."),
    detail: nullable(Type.String(), "The rule in a sentence, for people. Null if it is possible."),
    changes: Type.Boolean({
      description: "Whether it would change the order. Without a hold, `releaseHold` changes nothing.",
    }),
    statusAfter: describedAs(
      OrderStatusSchema,
      "The status that the order would have; the present one if the transition is not possible.",
    ),
    eventTypes: Type.Array(Type.String({ description: "A type of event.", examples: ["order.completed"] }), {
      description:
        "The types of the events that it would publish to every endpoint. Events of types that endpoints must name come in addition.",
    }),
  },
  { title: "PossibleTransition", description: "What a transition would do to the test order now." },
);

export const PartnerOrderSchema = asPartnersSee(OrderSchema);

export const TestOrderSchema = Type.Object(
  {
    order: describedAs(PartnerOrderSchema, "The test order, exactly as its partner reads it."),
    expiresAt: dateTime("When the service erases the order. No transition changes it."),
    transitions: Type.Array(PossibleTransitionSchema, {
      description: "Every transition of the sandbox, in the order of the specification.",
    }),
  },
  { title: "TestOrder", description: "A test order, and what can be done with it now." },
);

/** The order must be `asOf` now. */
export function toWireTestOrder(order: Order, now: Date): Static<typeof TestOrderSchema> {
  return {
    order: toWireOrder(order),
    expiresAt: (order.expiresAt ?? now).toISOString(), // A test order has one.
    transitions: possibleTransitions(order, now).flatMap(({ name, rule, changes, status, eventTypes }) =>
      isOfSandbox(name)
        ? [
            {
              transition: name,
              isPossible: rule === null,
              rule,
              detail: rule === null ? null : detailOf(rule),
              changes,
              statusAfter: status,
              eventTypes: [...eventTypes],
            },
          ]
        : [],
    ),
  };
}

type SandboxTransition = (typeof SANDBOX_TRANSITIONS)[number];
const isOfSandbox = (name: string): name is SandboxTransition =>
  SANDBOX_TRANSITIONS.some((known) => known === name);
