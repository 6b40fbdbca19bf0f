import { SERVICE } from "../lifecycle/applied-transition.ts";
import { applyTransition } from "../lifecycle/lifecycle.ts";
import type { Order } from "../lifecycle/order.ts";
import { type SampleEvent, sampleOrderAfter } from "../orders/sample-event.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import type { BackOfficeEventType } from "../webhooks/events/back-office-event.ts";
import { ownerKind } from "../webhooks/owner.ts";
import { toWireCharge } from "./money/charge-wire.ts";
import { toWireRefund } from "./money/refund-wire.ts";
import { toOrderSummary, toWireReturn } from "./orders/order-wire.ts";
import { lowStockData } from "./publish-events.ts";

/** What has happened to the order of each type, as the events of partners name it. */
const LIKE = {
  "order.created": "order.created",
  "order.held": "order.onHold",
  "order.released": "order.onHoldReleased",
  "order.readyToShip": "order.accepted",
  "order.withdrawn": "order.accepted",
  "order.shipped": "order.shipmentCreated",
  "shipment.voided": "order.shipmentCreated",
  "order.linesCanceled": "order.linesCanceled",
  "order.completed": "order.completed",
  "order.canceled": "order.canceled",
  "charge.failed": "order.paymentFailed",
  "refund.created": "order.shipmentReturned",
  "return.recorded": "order.shipmentReturned",
} as const satisfies Record<
  Exclude<BackOfficeEventType, "stock.low">,
  Parameters<typeof sampleOrderAfter>[0]
>;

const CURRENCY = "EUR";
const AMOUNT_MINOR = 1_000n;

/**
 * A sample of an event of a merchant or a facility (docs/design/event-feed.md, "Samples"). The lifecycle and the functions that write
 * real events make it. Its ids are the ids of nothing.
 */
export function sampleBackOfficeEvent(
  { newId, clock }: Pick<Context, "newId" | "clock">,
  owner: ConnectionKey,
  type: BackOfficeEventType,
): Omit<SampleEvent, "type"> & { readonly type: BackOfficeEventType } {
  const now = clock.now();
  const isFacility = ownerKind(owner) === "facility";
  const key = { merchantId: isFacility ? newId() : owner.merchantId, connectionId: newId() };
  if (type === "stock.low")
    return { type, sequence: null, data: sampleLowStock(owner, key.merchantId, newId, now) };
  const like = sampleOrderAfter(LIKE[type], { connection: key, newId, now, lifetimeMs: 0 });
  const made = type === "shipment.voided" ? withoutShipment(like, now) : like;
  const facilityId = isFacility ? owner.connectionId : newId();
  const order: Order = { ...made, testMode: false, expiresAt: null, facilityId, routedAt: now };
  const names = new Map(
    order.lines.map(({ productId }) => [productId, { sku: "SAMPLE-SKU", name: "Sample product" }]),
  );
  const of = { ...key, merchantName: "Sample merchant", connectionName: "Sample connection" };
  const summary = toOrderSummary(order, of, { minor: AMOUNT_MINOR, currency: CURRENCY }, names, now);
  if (type === "order.withdrawn") return { type, sequence: null, data: { order: { id: summary.id } } };
  const shown = isFacility ? { ...summary, goods: null } : summary;
  return {
    type,
    sequence: null,
    data: { order: shown, ...besideOrder(type, order, summary, { newId, now }) },
  };
}

const withoutShipment = (order: Order, now: Date): Order =>
  applyTransition(order, { name: "voidShipment", shipmentId: order.shipments[0]?.id ?? "" }, now).order;

function sampleLowStock(owner: ConnectionKey, merchantId: string, newId: () => string, now: Date) {
  const facilityId = ownerKind(owner) === "facility" ? owner.connectionId : newId();
  return lowStockData({
    ...{
      merchantId,
      facilityId,
      productId: newId(),
      sku: "SAMPLE-SKU",
      name: "Sample product",
      barcode: null,
    },
    ...{ onHand: 12, reserved: 3, updatedAt: now, lowStockBelow: 10 },
  });
}

function besideOrder(
  type: keyof typeof LIKE,
  { lines }: Order,
  { shipments }: ReturnType<typeof toOrderSummary>,
  { newId, now }: { readonly newId: () => string; readonly now: Date },
): Record<string, unknown> {
  const common = { id: newId(), actor: SERVICE, createdAt: now, note: null, reference: "sample" };
  switch (type) {
    case "order.shipped":
    case "shipment.voided":
      return { shipment: shipments[0] };
    case "charge.failed":
      return {
        charge: toWireCharge({
          ...{ id: common.id, kind: "goods", attempt: 1, refundOf: null, refundId: null },
          ...{ amountMinor: AMOUNT_MINOR, currency: CURRENCY, status: "failed", gateway: "account" },
          ...{ failureReason: "credit_limit_exceeded", requestId: null, createdAt: now },
        }),
      };
    case "refund.created":
      return {
        refund: toWireRefund(CURRENCY)({
          ...common,
          amountMinor: AMOUNT_MINOR,
          lines: lines.map(({ id: lineId, quantity }) => ({ lineId, quantity })),
          reason: "returned",
        }),
      };
    case "return.recorded":
      return {
        return: toWireReturn({
          ...common,
          lines: lines.map(({ id: lineId, quantity }) => ({ lineId, quantity })),
          reason: null,
          condition: null,
          restocked: true,
          refundId: null,
        }),
      };
    default:
      return {};
  }
}
