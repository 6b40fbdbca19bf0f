import { type Static, Type } from "typebox";
import { PARTNER } from "../../lifecycle/applied-transition.ts";
import { OUT_OF_STOCK } from "../../lifecycle/hold-reasons.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import type { Transition } from "../../lifecycle/transition.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { limitReached, maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { NewId } from "../../platform/ids.ts";
import {
  isProblem,
  notFound,
  type Problem,
  type ValidationError,
  validationFailed,
} from "../../platform/wire/problems.ts";
import { enumeration } from "../../platform/wire/schemas.ts";
import { lockOrder } from "../orders-sql.ts";
import { toTracking } from "../shipments/tracking.ts";
import { carrierField, trackingNumberField, trackingUrlField } from "../shipments/tracking-fields.ts";
import { changeOrder } from "./change-order.ts";
import {
  lineErrors,
  type NamedLines,
  namedLines,
  namedShipment,
  readLineIds,
  shipmentErrors,
} from "./named-parts.ts";
import { holdReasonsField, lineIdsField, shipmentIdField } from "./request-fields.ts";
import { countTimelineEntries } from "./timeline-sql.ts";
import { transitionRefused } from "./transition-refused.ts";

/** Specification, part 3, "Test orders". */
const SANDBOX_TRANSITIONS = [
  "process",
  "accept",
  "hold",
  "releaseHold",
  "ship",
  "returnShipment",
  "complete",
  "cancel",
] as const;

export const TestOrderTransitionSchema = enumeration(
  "TestOrderTransition",
  SANDBOX_TRANSITIONS,
  "`process`, `accept`, `complete` and `cancel` set the status PROCESSING, ACCEPTED, COMPLETED and CANCELED. `hold` and `releaseHold` place and clear a hold. `ship` creates a shipment: `shipped` if it has a tracking number or address, else `pending`. `complete` makes pending shipments `shipped`. `returnShipment` records that a shipment has come back.",
);

export const TransitionRequestSchema = Type.Object(
  {
    transition: TestOrderTransitionSchema,
    reasons: Type.Optional(
      holdReasonsField(
        "For `hold`: what must change before the order can proceed. Default: `out_of_stock`.",
        OUT_OF_STOCK,
      ),
    ),
    lineIds: Type.Optional(
      lineIdsField("For `ship`: the lines that the shipment contains. Default: all unshipped lines."),
    ),
    carrier: Type.Optional(carrierField("For `ship`: the carrier of the shipment.")),
    trackingNumber: Type.Optional(
      trackingNumberField("For `ship`: the carrier's tracking number. The shipment is then `shipped`."),
    ),
    trackingUrl: Type.Optional(
      trackingUrlField(
        "For `ship`: the address where the shipment can be tracked. The shipment is then `shipped`.",
      ),
    ),
    shipmentId: Type.Optional(
      shipmentIdField(
        "For `returnShipment`: the shipment that came back. Default: the most recent one that has not come back.",
      ),
    ),
  },
  { title: "TransitionRequest", description: "A transition of a test order." },
);
type TransitionRequest = Static<typeof TransitionRequestSchema>;

/**
 * POST /v1/test/orders/{orderId}/transitions. Specification, parts 3 and 4; decisions 0014 and 0015. Test orders follow
 * the same lifecycle as real orders. A real order gets the same response as a missing one.
 */
export async function transitionTestOrder(
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  request: TransitionRequest,
): Promise<Order | Problem> {
  const missing = notFound("test order");
  const lines = readLineIds(request.lineIds);
  let reached: Problem | null = null;
  const outcome = await changeOrder(context, {
    async lock(tx) {
      const order = await lockOrder(tx, connection, ref, context.clock);
      reached = order?.testMode ? await reachedLimit(tx, order) : null;
      return order;
    },
    missing,
    cause: { actor: PARTNER, operation: request.transition },
    decide(order, now) {
      if (!order.testMode) return missing;
      const errors = unknownIds(order, request, lines);
      if (errors.length > 0) return validationFailed(errors);
      return reached ?? applyTransition(order, toTransition(request, lines, context.newId), now);
    },
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied"
    ? outcome.order
    : transitionRefused(request.transition, outcome.order, outcome.rule);
}

/** Under the order's lock, so the limit is exact. A transition without an event counts, too: it adds to the timeline. */
async function reachedLimit(tx: Queryable, order: Order): Promise<Problem | null> {
  const overridesOf = await readLimitOverrides(tx, [order]);
  const maximum = maximumOf(overridesOf(order), "testOrderTransitions");
  const made = await countTimelineEntries(tx, order, maximum);
  return made >= maximum ? limitReached("testOrderTransitions", maximum) : null;
}

/**
 * An error for each id that names no line or shipment of the order. Fields that the transition does not use are
 * ignored.
 */
function unknownIds(
  order: Order,
  { transition, shipmentId }: TransitionRequest,
  lines: NamedLines | null,
): ValidationError[] {
  if (transition === "ship") return lineErrors(order, lines);
  return transition === "returnShipment" ? shipmentErrors(order, shipmentId) : [];
}

function toTransition(
  { transition, reasons, shipmentId, ...others }: TransitionRequest,
  lines: NamedLines | null,
  newId: NewId,
): Transition {
  switch (transition) {
    case "hold":
      return { name: "hold", reasons: reasons ?? [OUT_OF_STOCK] };
    case "ship":
      return {
        ...{ name: "ship", lineIds: namedLines(lines) },
        ...{ newShipmentId: newId(), tracking: toTracking(others) },
      };
    case "returnShipment":
      return { name: "returnShipment", shipmentId: namedShipment(shipmentId) };
    default:
      return { name: transition };
  }
}
