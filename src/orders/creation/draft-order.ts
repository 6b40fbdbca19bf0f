import { isChargedAtCreation } from "../../ledger/ledger.ts";
import type { Order } from "../../lifecycle/order.ts";
import { needsReview, withDefaults } from "../../merchants/connection.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { orderEvents } from "../changes/order-events.ts";
import type { OrderRequest } from "./order-request.ts";
import type { NewOrder, OrderableProduct } from "./place-orders-sql.ts";

export type Placement = ConnectionKey & {
  readonly idempotencyKey: string;
  readonly requestHash: Buffer;
  readonly request: OrderRequest;
  /** As in `x-request-id`. */
  readonly requestId: string | undefined;
};

type Drafting = Pick<Context, "config" | "clock" | "newId">;

/** A line of a request with its product, which can be ordered. */
export type OrderableLine = { readonly product: OrderableProduct; readonly quantity: number };

/** The order of a request, with its value and its first event. */
export function draftOrder(
  context: Drafting,
  placement: Placement,
  lines: readonly OrderableLine[],
): NewOrder {
  const { newId } = context;
  const now = context.clock.now();
  const { currency, goodsMinor, unitPricesMinor, isReviewed } = goodsOf(context, placement, lines);
  const order = newOrder(context, placement, isReviewed, now);
  const [event] = orderEvents(order, [{ type: "order.created" }], newId, now);
  if (event === undefined) throw new Error("One fact makes one event.");
  return {
    order,
    idempotencyKey: placement.idempotencyKey,
    requestHash: placement.requestHash,
    requestId: placement.requestId,
    goodsMinor,
    currency,
    charge: isChargedAtCreation(order) && goodsMinor > 0n,
    unitPricesMinor,
    event,
  };
}

type Goods = Pick<NewOrder, "currency" | "goodsMinor" | "unitPricesMinor"> & { readonly isReviewed: boolean };

/** What the goods cost the merchant, and whether the order starts in review. */
function goodsOf({ config }: Drafting, { request }: Placement, lines: readonly OrderableLine[]): Goods {
  const [first] = lines;
  if (first === undefined) throw new Error("An order has at least one line.");
  const goodsMinor = lines.reduce(
    (sum, { product, quantity }) => sum + BigInt(quantity) * product.priceMinor,
    0n,
  );
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0);
  const { reviewPolicy, currency } = first.product;
  const { countryCode } = request.shippingAddress;
  const policy = withDefaults(reviewPolicy, {
    maxQuantity: config.reviewOrderQuantity,
    maxOrderValueMinor: config.reviewOrderValuesMinor.get(currency) ?? null,
  });
  return {
    currency,
    goodsMinor,
    unitPricesMinor: lines.map(({ product }) => product.priceMinor),
    isReviewed: needsReview(policy, { quantity, goodsMinor, countryCode }),
  };
}

function newOrder(
  { config, newId }: Drafting,
  { merchantId, connectionId, request }: Placement,
  isReviewed: boolean,
  now: Date,
): Order {
  const hasWindow = !isReviewed && !request.testMode;
  return {
    merchantId,
    connectionId,
    id: newId(),
    testMode: request.testMode,
    externalOrderId: request.externalOrderId,
    status: isReviewed ? "PROCESSING" : "NEW",
    holdReasons: [],
    shippingAddress: request.shippingAddress,
    note: request.note,
    metadata: request.metadata,
    lines: request.lines.map((line) => ({
      ...line,
      id: newId(),
      shipmentId: null,
      splitFrom: null,
      returnedQuantity: 0,
    })),
    shipments: [],
    createdAt: now,
    updatedAt: now,
    acceptanceDueAt: hasWindow ? new Date(now.getTime() + config.acceptanceWindowMs) : null,
    expiresAt: request.testMode ? new Date(now.getTime() + config.testOrderLifetimeMs) : null,
    lastSequence: 1,
    routedAt: null,
    facilityId: null,
    canceledAt: null,
  };
}
