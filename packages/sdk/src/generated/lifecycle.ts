/**
 * The lifecycle of orders as data, as `GET /v1/lifecycle` returns it.
 *
 * @packageDocumentation
 */
// Made from the rules of the service by `npm run describe`. Do not change it.

import type { Lifecycle } from "./types.ts";

/** Every status, and every transition of real and of test orders, in this version. A newer service can have more. */
export const lifecycle: Lifecycle = {
  statuses: [
    { status: "NEW", isInitial: true, isSettled: false },
    { status: "PROCESSING", isInitial: true, isSettled: false },
    { status: "ACCEPTED", isInitial: false, isSettled: false },
    { status: "IN_PROGRESS", isInitial: false, isSettled: false },
    { status: "COMPLETED", isInitial: false, isSettled: true },
    { status: "CANCELED", isInitial: false, isSettled: true },
    { status: "RETURNED", isInitial: false, isSettled: true },
  ],
  realOrders: [
    {
      transition: "cancelByPartner",
      by: ["partner"],
      operationId: "cancelOrder",
      effects: [
        {
          to: "CANCELED",
          onlyOnHoldFor: null,
          from: ["NEW"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
        {
          to: "CANCELED",
          onlyOnHoldFor: "payment_failed",
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
        { to: null, onlyOnHoldFor: null, from: ["CANCELED"], eventTypes: [], optInEventTypes: [] },
      ],
      rejections: [
        {
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS", "COMPLETED", "RETURNED"],
          code: "order-not-cancelable",
          rule: null,
        },
      ],
    },
    {
      transition: "accept",
      by: ["service"],
      operationId: null,
      effects: [
        {
          to: "ACCEPTED",
          onlyOnHoldFor: null,
          from: ["NEW"],
          eventTypes: [],
          optInEventTypes: ["order.accepted"],
        },
      ],
      rejections: [],
    },
    {
      transition: "approve",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: "ACCEPTED",
          onlyOnHoldFor: null,
          from: ["PROCESSING"],
          eventTypes: [],
          optInEventTypes: ["order.accepted"],
        },
      ],
      rejections: [],
    },
    {
      transition: "reject",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: "CANCELED",
          onlyOnHoldFor: null,
          from: ["PROCESSING"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "hold",
      by: ["operator", "warehouse", "merchant", "service"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.onHold"],
          optInEventTypes: ["order.paymentFailed"],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "releaseHold",
      by: ["operator", "warehouse", "merchant", "service"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.onHoldReleased"],
          optInEventTypes: [],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.onHold"],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "updateShippingAddress",
      by: ["operator", "merchant"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "ship",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: "IN_PROGRESS",
          onlyOnHoldFor: null,
          from: ["ACCEPTED"],
          eventTypes: ["order.shipmentCreated"],
          optInEventTypes: ["order.inProgress"],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS"],
          eventTypes: ["order.shipmentCreated"],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "updateShipment",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS", "COMPLETED", "CANCELED"],
          eventTypes: [],
          optInEventTypes: ["order.shipmentUpdated"],
        },
      ],
      rejections: [],
    },
    {
      transition: "voidShipment",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: ["order.shipmentUpdated"],
        },
        { to: null, onlyOnHoldFor: null, from: ["CANCELED"], eventTypes: [], optInEventTypes: [] },
      ],
      rejections: [],
    },
    {
      transition: "cancelLines",
      by: ["operator", "merchant"],
      operationId: null,
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: ["order.linesCanceled"],
        },
        {
          to: "COMPLETED",
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS"],
          eventTypes: ["order.completed"],
          optInEventTypes: ["order.shipmentUpdated", "order.linesCanceled"],
        },
      ],
      rejections: [],
    },
    {
      transition: "complete",
      by: ["operator", "warehouse", "service"],
      operationId: null,
      effects: [
        {
          to: "COMPLETED",
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS"],
          eventTypes: ["order.completed"],
          optInEventTypes: ["order.shipmentUpdated"],
        },
      ],
      rejections: [],
    },
    {
      transition: "cancel",
      by: ["operator", "merchant"],
      operationId: null,
      effects: [
        {
          to: "CANCELED",
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
    {
      transition: "returnShipment",
      by: ["operator", "warehouse"],
      operationId: null,
      effects: [
        {
          to: "RETURNED",
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS", "COMPLETED", "CANCELED"],
          eventTypes: ["order.shipmentReturned"],
          optInEventTypes: [],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS", "COMPLETED", "CANCELED"],
          eventTypes: [],
          optInEventTypes: ["order.shipmentUpdated"],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS", "COMPLETED", "CANCELED"],
          eventTypes: ["order.shipmentReturned"],
          optInEventTypes: [],
        },
      ],
      rejections: [],
    },
  ],
  testOrders: [
    {
      transition: "cancelByPartner",
      by: ["partner"],
      operationId: "cancelOrder",
      effects: [
        {
          to: "CANCELED",
          onlyOnHoldFor: null,
          from: ["NEW"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
        {
          to: "CANCELED",
          onlyOnHoldFor: "payment_failed",
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
        { to: null, onlyOnHoldFor: null, from: ["CANCELED"], eventTypes: [], optInEventTypes: [] },
      ],
      rejections: [
        {
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS", "COMPLETED", "RETURNED"],
          code: "order-not-cancelable",
          rule: null,
        },
      ],
    },
    {
      transition: "process",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "PROCESSING",
          onlyOnHoldFor: null,
          from: ["NEW", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
        { to: null, onlyOnHoldFor: null, from: ["PROCESSING"], eventTypes: [], optInEventTypes: [] },
      ],
      rejections: [
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "accept",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "ACCEPTED",
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
        { to: null, onlyOnHoldFor: null, from: ["ACCEPTED"], eventTypes: [], optInEventTypes: [] },
      ],
      rejections: [
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "hold",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.onHold"],
          optInEventTypes: ["order.paymentFailed"],
        },
      ],
      rejections: [
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "releaseHold",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: [],
          optInEventTypes: [],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.onHoldReleased"],
          optInEventTypes: [],
        },
      ],
      rejections: [
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "ship",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "IN_PROGRESS",
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED"],
          eventTypes: ["order.shipmentCreated"],
          optInEventTypes: ["order.inProgress"],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["IN_PROGRESS"],
          eventTypes: ["order.shipmentCreated"],
          optInEventTypes: [],
        },
      ],
      rejections: [
        {
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          code: "transition-refused",
          rule: "nothing_to_ship",
        },
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
        {
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          code: "transition-refused",
          rule: "order_on_hold",
        },
        {
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          code: "transition-refused",
          rule: "too_many_lines",
        },
      ],
    },
    {
      transition: "updateShipment",
      by: ["partner"],
      operationId: "trackTestShipment",
      effects: [
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS", "COMPLETED", "CANCELED", "RETURNED"],
          eventTypes: [],
          optInEventTypes: ["order.shipmentUpdated"],
        },
      ],
      rejections: [{ from: ["RETURNED"], code: "transition-refused", rule: "no_shipment_out" }],
    },
    {
      transition: "complete",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "COMPLETED",
          onlyOnHoldFor: null,
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.completed"],
          optInEventTypes: ["order.shipmentUpdated"],
        },
      ],
      rejections: [
        {
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          code: "transition-refused",
          rule: "unshipped_lines",
        },
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "cancel",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "CANCELED",
          onlyOnHoldFor: null,
          from: ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS"],
          eventTypes: ["order.canceled"],
          optInEventTypes: [],
        },
      ],
      rejections: [
        { from: ["COMPLETED", "CANCELED", "RETURNED"], code: "transition-refused", rule: "order_settled" },
      ],
    },
    {
      transition: "returnShipment",
      by: ["partner"],
      operationId: "transitionTestOrder",
      effects: [
        {
          to: "RETURNED",
          onlyOnHoldFor: null,
          from: ["PROCESSING", "ACCEPTED", "IN_PROGRESS", "COMPLETED", "CANCELED"],
          eventTypes: ["order.shipmentReturned"],
          optInEventTypes: [],
        },
        {
          to: null,
          onlyOnHoldFor: null,
          from: ["RETURNED"],
          eventTypes: ["order.shipmentReturned"],
          optInEventTypes: [],
        },
      ],
      rejections: [
        {
          from: ["NEW", "PROCESSING", "ACCEPTED", "CANCELED", "RETURNED"],
          code: "transition-refused",
          rule: "no_shipment_out",
        },
      ],
    },
  ],
};
