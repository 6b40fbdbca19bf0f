import { type Static, Type } from "typebox";
import { noteRehearsedCreation } from "../certification/runs.ts";
import { armDeliveryFault, listDeliveryFaults } from "../orders/changes/arm-delivery-fault.ts";
import { byPartner, cancelOrder, missingOrder } from "../orders/changes/change-order.ts";
import {
  TrackingRequestSchema,
  TransitionRequestSchema,
  trackTestShipment,
  transitionTestOrder,
} from "../orders/changes/transition-test-order.ts";
import {
  idempotencyKeyHeader,
  OrderRequestSchema,
  testModeErrors,
} from "../orders/creation/order-request.ts";
import { eraseTestOrder } from "../orders/deadlines/erase-test-orders.ts";
import {
  CreatedOrderSchema,
  OrderIdParams,
  OrderSchema,
  orderText,
  parseOrderRef,
  toWireCreatedOrder,
  toWireOrder,
} from "../orders/order-wire.ts";
import { OrderSearchSchema, searchOrders, toOrderSearch } from "../orders/reading/search-orders.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { wireOrderId } from "../platform/ids.ts";
import { isProblem } from "../platform/wire/problems.ts";
import { NoParameters, pageOf } from "../platform/wire/schemas.ts";
import {
  ArmedFaultSchema,
  DeliveryFaultRequestSchema,
  DeliveryFaultsSchema,
  toWireFault,
} from "../webhooks/faults/arm-fault.ts";
import type { PartnerOperations } from "./operations.ts";
import { type PartnerRoute, route } from "./partner-route.ts";
import { FaultHeaders, type FaultyRequest, faultHeader } from "./rehearsed-faults.ts";

/** Orders and test orders. Specification, part 4. */
export const orderRoutes: readonly PartnerRoute[] = [
  route({
    method: "POST",
    path: "/v1/orders",
    operationId: "createOrder",
    retry: "repeat",
    tag: "Orders",
    summary: "Create an order",
    description:
      "Orders are deduplicated per connection by the `Idempotency-Key` header or, without it, by `externalOrderId`. A retry of a successful request returns 200 with the current order. The key lives as long as its order. A rejected request does not use up its key. With a test key, `testMode` must be true.",
    headers: Type.Object({ ...idempotencyKeyHeader, ...faultHeader }),
    body: OrderRequestSchema,
    responses: {
      201: {
        description: "The order was created.",
        schema: CreatedOrderSchema,
        headers: { Location: "Path of the new order." },
      },
      200: {
        description: "The request has already succeeded: the current order.",
        schema: CreatedOrderSchema,
        headers: { "Idempotent-Replayed": "Always `true`." },
      },
    },
    problems: [
      "idempotency-key-missing",
      "order-already-exists",
      "limit-reached",
      "idempotency-key-reused",
      "validation-failed",
    ],
    bodyErrors: async ({ caller, body }) => testModeErrors(caller, body),
    handle: ({ caller, headers, body, id }, operations) => {
      const { createOrder, rehearseFault } = operations;
      const { "idempotency-key": key, "test-fault": fault } = headers;
      const isTestOrder = () => body.testMode === true;
      return rehearseFault({ caller, fault, sameIf: ["createOrder", key, body], isTestOrder }, async () => {
        const created = await createOrder(caller, key, body, id);
        if (fault === "lost-response") await noteRehearsedCreation(operations.context, caller, body, created);
        if (isProblem(created)) return created;
        const { order, replayed } = created;
        const shown = toWireCreatedOrder(order);
        return replayed
          ? { status: 200, headers: { "idempotent-replayed": "true" }, body: shown }
          : { status: 201, headers: { location: `/v1/orders/${wireOrderId(order)}` }, body: shown };
      });
    },
  }),
  route({
    method: "POST",
    path: "/v1/orders/search",
    operationId: "searchOrders",
    retry: "repeat",
    isList: true,
    tag: "Orders",
    summary: "Search orders",
    description:
      "The connection's orders that fit all fields of the body, as they are now, newest first. A test order is not found after its erasure. A page may have fewer orders than `limit`, or none, before the end of the list: continue until `nextCursor` is null. An order that changes while you page may be missing, or be on two pages.",
    query: NoParameters,
    body: OrderSearchSchema,
    responses: { 200: { description: "A page of orders.", schema: pageOf(OrderSchema, "OrderPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, body }, { context }) => {
      const page = await searchOrders(context, caller, toOrderSearch(body, caller.testOnly), body);
      if (isProblem(page)) return page;
      return { status: 200, body: { data: page.orders.map(toWireOrder), nextCursor: page.nextCursor } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/orders/{orderId}",
    operationId: "getOrder",
    tag: "Orders",
    summary: "Get an order",
    params: OrderIdParams,
    responses: { 200: { description: "The current order.", schema: OrderSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params }, { readOrder }) => {
      const order = await readOrder({
        merchantId: caller.merchantId,
        connectionId: caller.connectionId,
        ref: parseOrderRef(params.orderId),
      });
      return order === null ? missingOrder(caller) : { status: 200, json: orderText(order) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/orders/{orderId}/cancel",
    operationId: "cancelOrder",
    retry: "repeat",
    tag: "Orders",
    summary: "Cancel an order",
    description:
      "Possible while the order is NEW and its window is open, or while its payment has failed. Canceling a canceled order returns 200 again. A body is ignored.",
    params: OrderIdParams,
    headers: FaultHeaders,
    responses: { 200: { description: "The canceled order.", schema: OrderSchema } },
    problems: ["not-found", "order-not-cancelable", "validation-failed"],
    handle: (input, operations) =>
      operations.rehearseFault(faultOf("cancelOrder", input, operations), async () => {
        const { caller, params, id } = input;
        const ref = parseOrderRef(params.orderId);
        const order = await cancelOrder(operations.context, caller, ref, byPartner(id));
        return isProblem(order) ? order : { status: 200, body: toWireOrder(order) };
      }),
  }),
  route({
    method: "POST",
    path: "/v1/test/orders/{orderId}/transitions",
    operationId: "transitionTestOrder",
    tag: "Test orders",
    summary: "Apply a transition to a test order",
    description: "Applies one named transition and publishes the event that a real transition would publish.",
    params: OrderIdParams,
    headers: FaultHeaders,
    body: TransitionRequestSchema,
    responses: { 200: { description: "The order after the transition.", schema: OrderSchema } },
    problems: ["not-found", "transition-refused", "limit-reached", "validation-failed"],
    handle: (input, operations) =>
      operations.rehearseFault(faultOf("transitionTestOrder", input, operations), async () => {
        const { caller, params, body, id } = input;
        const ref = parseOrderRef(params.orderId);
        const order = await transitionTestOrder(operations.context, caller, ref, body, byPartner(id));
        return isProblem(order) ? order : { status: 200, body: toWireOrder(order) };
      }),
  }),
  route({
    method: "POST",
    path: "/v1/test/orders/{orderId}/shipments/{shipmentId}/tracking",
    operationId: "trackTestShipment",
    retry: "repeat",
    tag: "Test orders",
    summary: "Report tracking of a shipment of a test order",
    description:
      "Rehearses tracking that arrives later, and the delivery: does to a shipment of a test order what the warehouse does to a real one, and publishes `order.shipmentUpdated` to endpoints that name it. The first tracking of a pending shipment makes it `shipped`, unless the request names a status. A parcel that could not be delivered comes back: use the transition `returnShipment`.",
    params: Type.Object({
      ...OrderIdParams.properties,
      shipmentId: Type.String({ description: "Id of the shipment." }),
    }),
    headers: FaultHeaders,
    body: TrackingRequestSchema,
    responses: { 200: { description: "The order after the change.", schema: OrderSchema } },
    problems: ["not-found", "transition-refused", "limit-reached", "validation-failed"],
    handle: (input, operations) => {
      const { caller, params, body, id } = input;
      const named = { ref: parseOrderRef(params.orderId), shipmentId: params.shipmentId };
      const fault = faultOf(`trackTestShipment ${params.shipmentId}`, input, operations);
      return operations.rehearseFault(fault, async () => {
        const order = await trackTestShipment(operations.context, caller, named, body, byPartner(id));
        return isProblem(order) ? order : { status: 200, body: toWireOrder(order) };
      });
    },
  }),
  route({
    method: "POST",
    path: "/v1/test/orders/{orderId}/delivery-faults",
    operationId: "armDeliveryFault",
    tag: "Test orders",
    summary: "Rehearse a fault with the next event of a test order",
    description:
      "Arms a fault: the deliveries of the next event of the order to test endpoints have it, once. A further fault waits for the event after it. Attempts that rehearse a fault are marked in the delivery log, and do not count for the health of the endpoint. Each request arms a further fault.",
    params: OrderIdParams,
    body: DeliveryFaultRequestSchema,
    responses: { 201: { description: "The fault is armed.", schema: ArmedFaultSchema } },
    problems: ["not-found", "endpoint-paused", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, body }, { context }) => {
      const armed = await armDeliveryFault(context, caller, parseOrderRef(params.orderId), body);
      return isProblem(armed) ? armed : { status: 201, body: toWireFault(armed) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/test/orders/{orderId}/delivery-faults",
    operationId: "listDeliveryFaults",
    tag: "Test orders",
    summary: "List the faults of a test order",
    description: "Those that are armed, and those that an event has had, oldest first: at most 50.",
    params: OrderIdParams,
    responses: { 200: { description: "The faults of the order.", schema: DeliveryFaultsSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params }, { context, readOrder }) => {
      const faults = await listDeliveryFaults(context, readOrder, caller, parseOrderRef(params.orderId));
      return isProblem(faults) ? faults : { status: 200, body: { data: faults.map(toWireFault) } };
    },
  }),
  // Beside the paths of the specification, which are closed (docs/design/lifecycle.md, "The sandbox").
  route({
    method: "POST",
    path: "/v1/test-orders/{orderId}/erase",
    operationId: "eraseTestOrder",
    tag: "Test orders",
    summary: "Erase a test order before its time",
    description:
      "Its `externalOrderId` and its key are free at once. Its events and deliveries are deleted within seconds; what is being sent at this moment may still arrive. A real order, and a test order that was erased before, is 404.",
    params: OrderIdParams,
    headers: FaultHeaders,
    responses: { 204: { description: "The test order is erased." } },
    problems: ["not-found", "validation-failed"],
    handle: (input, operations) =>
      operations.rehearseFault(faultOf("eraseTestOrder", input, operations), async () => {
        const { caller, params, by } = input;
        const ref = parseOrderRef(params.orderId);
        return (await eraseTestOrder(operations.context, caller, ref, by)) ?? { status: 204 };
      }),
  }),
];

/** A request about an order that exists, with the fault that it asks for. */
const faultOf = (
  operation: string,
  { caller, headers, params: { orderId }, body }: FaultInput,
  { readOrder }: Pick<PartnerOperations, "readOrder">,
): FaultyRequest => ({
  caller,
  fault: headers["test-fault"],
  sameIf: [operation, orderId, body],
  isTestOrder: async () =>
    (
      await readOrder({
        merchantId: caller.merchantId,
        connectionId: caller.connectionId,
        ref: parseOrderRef(orderId),
      })
    )?.testMode ?? null,
});

type FaultInput = {
  readonly caller: ConnectionKey;
  readonly headers: Static<typeof FaultHeaders>;
  readonly params: Static<typeof OrderIdParams>;
  readonly body: unknown;
};
