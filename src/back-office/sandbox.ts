import { type Static, Type } from "typebox";
import { asPartnersSee } from "../http/route.ts";
import type { Order } from "../lifecycle/order.ts";
import { possibleTransitions, SANDBOX_TRANSITIONS } from "../lifecycle/possible-transitions.ts";
import { fullAccess, type KeyAccess } from "../merchants/api-key.ts";
import { keyOf } from "../merchants/connection.ts";
import { armDeliveryFault, listDeliveryFaults } from "../orders/changes/arm-delivery-fault.ts";
import { cancelOrder } from "../orders/changes/change-order.ts";
import { detailOf, ruleSchema, TRANSITION_RULES } from "../orders/changes/transition-order.ts";
import {
  TestOrderTransitionSchema,
  TransitionRequestSchema,
  transitionTestOrder,
} from "../orders/changes/transition-test-order.ts";
import { createTestOrder } from "../orders/creation/create-order.ts";
import { IdempotencyKeyHeaders, TestOrderRequestSchema } from "../orders/creation/order-request.ts";
import { eraseTestOrder } from "../orders/deadlines/erase-test-orders.ts";
import {
  OrderIdParams,
  OrderSchema,
  OrderStatusSchema,
  parseOrderRef,
  toWireOrder,
} from "../orders/order-wire.ts";
import { testOrdersOf } from "../orders/reading/read-order.ts";
import { listTestOrders } from "../orders/reading/test-orders.ts";
import type { Context } from "../platform/context.ts";
import { pagePosition, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  limitField,
  nullable,
  pageOf,
} from "../platform/wire/schemas.ts";
import {
  ArmedFaultSchema,
  DeliveryFaultRequestSchema,
  DeliveryFaultsSchema,
  toWireFault,
} from "../webhooks/faults/arm-fault.ts";
import { andPartner, type BackOfficeCaller, type BackOfficeRoute, merchantSide, route } from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";
import { recordReads } from "./orders/export.ts";

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

const PartnerOrderSchema = asPartnersSee(OrderSchema);

const TestOrderSchema = Type.Object(
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
function toWireTestOrder(order: Order, now: Date): Static<typeof TestOrderSchema> {
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

const tag = "Test orders";
const sandbox = andPartner(merchantSide);
const TestOrderParams = Type.Object({ ...ConnectionIdParams.properties, ...OrderIdParams.properties });

/** The caller's rights to a connection's test orders. Real orders are not changed here. */
async function testAccess(
  context: Context,
  caller: BackOfficeCaller,
  id: string,
): Promise<KeyAccess | Problem> {
  const connection = await findConnection(context, caller, id);
  return connection === null ? notFound("connection") : { ...fullAccess(keyOf(connection)), testOnly: true };
}

/** The sandbox for people: the same test orders and operations as with a key. See docs/design/lifecycle.md, "The sandbox". */
export const testOrderRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/test-orders",
    operationId: "createTestOrder",
    admits: sandbox,
    tag,
    summary: "Create a test order",
    description:
      "As `POST /v1/orders` with `testMode: true` does, with the same events, limits and idempotency keys. The `Idempotency-Key` header may be absent: without it and without `externalOrderId`, every request creates an order.",
    params: ConnectionIdParams,
    headers: IdempotencyKeyHeaders,
    body: TestOrderRequestSchema,
    responses: {
      201: { description: "The test order was created.", schema: TestOrderSchema },
      200: {
        description: "The request has already succeeded: the current test order.",
        schema: TestOrderSchema,
        headers: { "Idempotent-Replayed": "Always `true`." },
      },
    },
    problems: [
      "not-found",
      "order-already-exists",
      "limit-reached",
      "idempotency-key-reused",
      "validation-failed",
    ],
    handle: async ({ caller, params, headers, body, by }, { context, readOrder }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const request = { idempotencyKey: headers["idempotency-key"], body };
      const created = await createTestOrder(context, readOrder, access, request, by);
      if (isProblem(created)) return created;
      const shown = toWireTestOrder(created.order, context.clock.now());
      return created.replayed
        ? { status: 200, headers: { "idempotent-replayed": "true" }, body: shown }
        : { status: 201, body: shown };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/test-orders",
    operationId: "listTestOrders",
    admits: sandbox,
    tag,
    summary: "List a connection's test orders",
    description: "Those that have not been erased, newest first, as the partner reads them.",
    params: ConnectionIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      status: Type.Optional(describedAs(OrderStatusSchema, "Only test orders with this status.")),
      onHold: flagField("True: only test orders on hold. False: only others."),
    }),
    responses: {
      200: { description: "A page of test orders.", schema: pageOf(PartnerOrderSchema, "TestOrderPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query, by }, { context }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const position = pagePosition("test-orders", query, UUID_MAX);
      if (isProblem(position)) return position;
      const filter = { status: query.status ?? null, onHold: query.onHold ?? null };
      const { orders, nextCursor } = await listTestOrders(context, access, filter, position);
      await recordReads(context, by, { orders, testMode: true });
      return { status: 200, body: { data: orders.map(toWireOrder), nextCursor } };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/test-orders/{orderId}",
    operationId: "getTestOrder",
    admits: sandbox,
    tag,
    summary: "Get a test order",
    description: "As its partner reads it, with the transitions that are possible now.",
    params: TestOrderParams,
    responses: { 200: { description: "The test order.", schema: TestOrderSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, by }, { context, readOrder }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const order = await testOrdersOf(readOrder)({ ...access, ref: parseOrderRef(params.orderId) });
      if (order === null) return notFound("test order");
      await recordReads(context, by, { orders: [order], testMode: true });
      return { status: 200, body: toWireTestOrder(order, context.clock.now()) };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/test-orders/{orderId}/transitions",
    operationId: "transitionTestOrder",
    admits: sandbox,
    tag,
    summary: "Apply a transition to a test order",
    description:
      "As `POST /v1/test/orders/{orderId}/transitions` does, with the same rules. The event is published to the partner's endpoints.",
    params: TestOrderParams,
    body: TransitionRequestSchema,
    responses: { 200: { description: "The test order after the transition.", schema: TestOrderSchema } },
    problems: ["not-found", "transition-refused", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const order = await transitionTestOrder(context, access, parseOrderRef(params.orderId), body, by);
      return isProblem(order) ? order : { status: 200, body: toWireTestOrder(order, context.clock.now()) };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/test-orders/{orderId}/cancel",
    operationId: "cancelTestOrder",
    admits: sandbox,
    tag,
    summary: "Cancel a test order as its partner does",
    description:
      "As `POST /v1/orders/{orderId}/cancel` does: a test order in PROCESSING, or accepted, cannot be canceled. The transition `cancel` cancels any that is not settled. Canceling a canceled order returns 200 again.",
    params: TestOrderParams,
    responses: { 200: { description: "The canceled test order.", schema: TestOrderSchema } },
    problems: ["not-found", "order-not-cancelable", "validation-failed"],
    handle: async ({ caller, params, by }, { context }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const order = await cancelOrder(context, access, parseOrderRef(params.orderId), by);
      return isProblem(order) ? order : { status: 200, body: toWireTestOrder(order, context.clock.now()) };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/test-orders/{orderId}/delivery-faults",
    operationId: "armDeliveryFault",
    admits: sandbox,
    tag,
    summary: "Rehearse a fault with the next event of a test order",
    description:
      "As `POST /v1/test/orders/{orderId}/delivery-faults` does, with the same rules: the deliveries of the next event to test endpoints have the fault, once. Each request arms a further fault.",
    params: TestOrderParams,
    body: DeliveryFaultRequestSchema,
    responses: { 201: { description: "The fault is armed.", schema: ArmedFaultSchema } },
    problems: ["not-found", "endpoint-paused", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const armed = await armDeliveryFault(context, access, parseOrderRef(params.orderId), body, by);
      return isProblem(armed) ? armed : { status: 201, body: toWireFault(armed) };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/test-orders/{orderId}/delivery-faults",
    operationId: "listDeliveryFaults",
    admits: sandbox,
    tag,
    summary: "List the faults of a test order",
    description: "Those that are armed, and those that an event has had, oldest first: at most 50.",
    params: TestOrderParams,
    responses: { 200: { description: "The faults of the test order.", schema: DeliveryFaultsSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params }, { context, readOrder }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      const faults = await listDeliveryFaults(context, readOrder, access, parseOrderRef(params.orderId));
      return isProblem(faults) ? faults : { status: 200, body: { data: faults.map(toWireFault) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/test-orders/{orderId}/erase",
    operationId: "eraseTestOrder",
    admits: sandbox,
    tag,
    summary: "Erase a test order before its time",
    description:
      "As `POST /v1/test-orders/{orderId}/erase` does: its `externalOrderId` and its key are free at once, and its events and deliveries are deleted within seconds. A test order that was erased before is 404.",
    params: TestOrderParams,
    responses: { 204: { description: "The test order is erased." } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, by }, { context }) => {
      const access = await testAccess(context, caller, params.id);
      if (isProblem(access)) return access;
      return (await eraseTestOrder(context, access, parseOrderRef(params.orderId), by)) ?? { status: 204 };
    },
  }),
];
