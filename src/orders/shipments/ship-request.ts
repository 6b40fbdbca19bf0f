import { type Static, Type } from "typebox";
import { LINES_MAX } from "../../lifecycle/lines.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Transition } from "../../lifecycle/transition.ts";
import { fromTypeId, type NewId } from "../../platform/ids.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import {
  lineErrors,
  lineQuantityErrors,
  type NamedLines,
  namedLines,
  readLineIds,
} from "../changes/named-parts.ts";
import { lineIdsField, lineQuantitiesField } from "../changes/request-fields.ts";
import { toTracking } from "./tracking.ts";
import { carrierField, trackingNumberField, trackingUrlField } from "./tracking-fields.ts";

/**
 * The fields of a request that creates a shipment, in the sandbox and for the warehouse.
 *
 * @param use begins each description
 */
export const shipFields = (use = "") => ({
  lineIds: Type.Optional(
    lineIdsField(`${use}Ids of the lines that the shipment contains. Default: all unshipped lines.`),
  ),
  lines: Type.Optional(
    lineQuantitiesField(
      `${use}Lines with the number of units that ship, instead of \`lineIds\`. The other units of a line become a line of their own, with a new id. An order has at most ${LINES_MAX} lines.`,
    ),
  ),
  carrier: Type.Optional(carrierField(`${use}Name of the carrier.`)),
  trackingNumber: Type.Optional(trackingNumberField(`${use}Tracking number of the carrier.`)),
  trackingUrl: Type.Optional(trackingUrlField(`${use}Address where the shipment can be tracked.`)),
});
type ShipFields = ReturnType<typeof shipFields>;
export type ShipRequest = { [Field in keyof ShipFields]?: Static<ShipFields[Field]> } & {
  /** Only the warehouse weighs. */
  readonly weightGrams?: number;
};

/** A request to ship with its ids read, before the order is locked. */
export type ReadShipRequest = ShipRequest & { readonly named: NamedLines | null };

export const readShipRequest = (request: ShipRequest): ReadShipRequest => ({
  ...request,
  named: readLineIds(request.lineIds ?? request.lines?.map(({ lineId }) => lineId)),
});

/** The transition that a request to ship means for this order, or why it is not valid. */
export function toShip(order: Order, request: ReadShipRequest, newId: NewId): Transition | Problem {
  const { named, lines = [] } = request;
  const errors = shipErrors(order, request);
  if (errors.length > 0) return validationFailed(errors);
  return {
    name: "ship",
    lineIds: namedLines(named),
    parts: lines.map(({ lineId, quantity }) => ({
      lineId: fromTypeId("line", lineId) ?? "", // It was found among the lines of the order.
      quantity,
      restId: newId(),
    })),
    newShipmentId: newId(),
    tracking: toTracking(request),
    weightGrams: request.weightGrams ?? null,
  };
}

function shipErrors(order: Order, { named, lineIds, lines }: ReadShipRequest): ValidationError[] {
  if (lines === undefined) return lineErrors(order, named);
  if (lineIds !== undefined) return [{ pointer: "/lines", detail: "cannot be combined with lineIds" }];
  return lineQuantityErrors(order, lines, ({ quantity }) => quantity, "the quantity of the line");
}
