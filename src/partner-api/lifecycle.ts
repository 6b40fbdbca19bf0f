import { type Static, Type } from "typebox";
import { PAYMENT_FAILED } from "../lifecycle/order.ts";
import { ruleSchema, SANDBOX_RULES } from "../orders/changes/transition-order.ts";
import { OrderStatusSchema } from "../orders/order-wire.ts";
import {
  DESCRIBED_NAMES,
  type DescribedTransition,
  describeLifecycle,
  type Rejection,
} from "../orders/reading/describe-lifecycle.ts";
import { described, describedAs, enumeration, nullable } from "../platform/wire/schemas.ts";
import { EventTypeSchema } from "../webhooks/endpoints/endpoint.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

const TRANSITION_TEXTS: Readonly<Record<DescribedTransition["transition"], string>> = {
  cancelByPartner: "You cancel the order.",
  process: "A test order is put in review. A real one is created in review.",
  accept: "The order is accepted; a real one at the end of its acceptance window.",
  approve: "A review accepts the order.",
  reject: "A review cancels the order.",
  hold: "Reasons for a hold are placed.",
  releaseHold: "Reasons for a hold are released.",
  updateShippingAddress: "The address is corrected.",
  ship: "A shipment is created.",
  updateShipment: "A shipment gets tracking, or another status.",
  voidShipment: "A shipment never left. Its lines are unshipped again.",
  cancelLines: "Units that cannot be delivered are canceled.",
  complete: "The order is completed.",
  cancel: "The order is canceled.",
  returnShipment: "A shipment, or some units of it, come back.",
};

const statuses = (description: string) =>
  Type.Array(describedAs(OrderStatusSchema, "A status."), { description });
const eventTypes = (description: string) =>
  Type.Array(describedAs(EventTypeSchema, "A type."), { description });

const EffectSchema = Type.Object(
  {
    from: statuses("The statuses in which an order can have this effect."),
    onlyOnHoldFor: nullable(
      Type.String({ examples: [PAYMENT_FAILED] }),
      "The reason for a hold without which it has another effect, or is rejected. Null if it does not depend on one.",
    ),
    to: nullable(OrderStatusSchema, "The status afterwards. Null if it stays as it is."),
    eventTypes: eventTypes(
      "The types of the events that are published. Empty if nothing changes, or only what no standard event reports.",
    ),
    optInEventTypes: eventTypes("Types that can be published in addition, to endpoints that name them."),
  },
  { title: "LifecycleEffect", description: "What a transition does." },
);

const RejectionSchema = Type.Object(
  {
    from: statuses("The statuses in which a request can be rejected so."),
    code: enumeration(
      "LifecycleRejectionCode",
      ["transition-refused", "order-not-cancelable"],
      "The `code` of the problem. `transition-refused`: the state of the order does not allow it; see `rule`. `order-not-cancelable`: the partner can cancel the order no longer, or never could.",
    ),
    rule: nullable(ruleSchema(SANDBOX_RULES), "Its `rule`. Null if the problem has none."),
  },
  { title: "LifecycleRejection", description: "Why a transition is rejected." },
);

const TransitionSchema = Type.Object(
  {
    transition: enumeration("LifecycleTransitionName", DESCRIBED_NAMES, described(TRANSITION_TEXTS)),
    by: Type.Array(
      enumeration(
        "LifecycleActor",
        ["partner", "merchant", "warehouse", "operator", "service"],
        described({
          partner: "You.",
          merchant: "The people and programs of the merchant.",
          warehouse: "The people and programs of the warehouse.",
          operator: "The company that runs the service.",
          service:
            "The service itself: the acceptance window has ended, a payment failed or succeeded, stock is missing or arrived.",
        }),
      ),
      { description: "Who can cause it." },
    ),
    operationId: nullable(
      enumeration(
        "LifecycleOperation",
        ["cancelOrder", "transitionTestOrder", "trackTestShipment"],
        "An operation of this API. `cancelOrder`: cancels an order. `transitionTestOrder`: requests the transition by its name. `trackTestShipment`: reports tracking of a shipment.",
      ),
      "The operation by which you request it. Null if you cannot.",
    ),
    effects: Type.Array(EffectSchema, {
      description:
        "Its effects. Which one of them, depends on the status, the holds, the lines and the shipments.",
    }),
    rejections: Type.Array(RejectionSchema, {
      description: "Why your request can be rejected. Empty if you cannot request it.",
    }),
  },
  { title: "LifecycleTransition", description: "A transition of orders." },
);

const LifecycleSchema = Type.Object(
  {
    statuses: Type.Array(
      Type.Object(
        {
          status: describedAs(OrderStatusSchema, "The status."),
          isInitial: Type.Boolean({ description: "Whether orders are created in it." }),
          isSettled: Type.Boolean({
            description: "Whether it is final, except that a shipment can still come back.",
          }),
        },
        { title: "LifecycleStatus", description: "A status of orders." },
      ),
      { description: "All statuses." },
    ),
    realOrders: Type.Array(TransitionSchema, { description: "The transitions of real orders." }),
    testOrders: Type.Array(TransitionSchema, {
      description: "The transitions of test orders. Only you cause them.",
    }),
  },
  {
    title: "Lifecycle",
    description: "The lifecycle of orders as data. It is the same for all deployments of a version.",
  },
);

type WireLifecycle = Static<typeof LifecycleSchema>;
type WireTransition = WireLifecycle["realOrders"][number];

/** In the form of the API. The SDK and the documentation have it, too. */
export function wireLifecycle(): WireLifecycle {
  const { statuses, realOrders, testOrders } = describeLifecycle();
  return {
    statuses: [...statuses],
    realOrders: realOrders.map(toWireTransition),
    testOrders: testOrders.map(toWireTransition),
  };
}

const toWireTransition = ({ transition, by, effects, rejections }: DescribedTransition): WireTransition => ({
  transition,
  by: [...by],
  operationId: by.includes("partner") ? operationOf(transition) : null,
  effects: effects.map(({ from, eventTypes, optInEventTypes, ...effect }) => ({
    ...effect,
    from: [...from],
    eventTypes: [...eventTypes],
    optInEventTypes: [...optInEventTypes],
  })),
  rejections: rejections.map(toWireRejection),
});

function operationOf(transition: DescribedTransition["transition"]): WireTransition["operationId"] {
  if (transition === "cancelByPartner") return "cancelOrder";
  return transition === "updateShipment" ? "trackTestShipment" : "transitionTestOrder";
}

/** A partner's cancel has a problem of its own, which names no rule. */
function toWireRejection({ from, rule }: Rejection): WireTransition["rejections"][number] {
  const named = SANDBOX_RULES.find((one) => one === rule);
  if (named === undefined && rule !== "not_cancelable")
    throw new Error(`Partners do not know the rule ${rule}.`);
  return {
    from: [...from],
    code: named === undefined ? "order-not-cancelable" : "transition-refused",
    rule: named ?? null,
  };
}

export const lifecycleRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/lifecycle",
    operationId: "getLifecycle",
    tag: "Reference",
    summary: "Get the lifecycle as data",
    description:
      "Every status and every transition: who can cause it, from which status to which, what it publishes, and why it is rejected. It is made from the rules that the service decides by, and changes with the version of the service only.",
    responses: { 200: { description: "The lifecycle.", schema: LifecycleSchema } },
    problems: [],
    handle: async () => ({ status: 200, body: wireLifecycle() }),
  }),
];
