import type { Order } from "../../lifecycle/order.ts";
import { fromTypeId } from "../../platform/ids.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";

/** The lines that `lineIds` names. Null if it is absent, which means all unshipped lines. */
export const namedLines = (lineIds: readonly string[] | undefined): string[] | null =>
  lineIds?.flatMap((text) => fromTypeId("line", text) ?? []) ?? null;

/** An error for each id that names no line of the order. */
export const lineErrors = (order: Order, lineIds: readonly string[] | undefined): ValidationError[] =>
  (lineIds ?? []).flatMap((text, index) =>
    order.lines.some(({ id }) => id === fromTypeId("line", text))
      ? []
      : [{ pointer: `/lineIds/${index}`, detail: "is not a line of this order" }],
  );

/** The shipment that `shipmentId` names. Null if it is absent. */
export const namedShipment = (shipmentId: string | undefined): string | null =>
  shipmentId === undefined ? null : fromTypeId("shp", shipmentId);

export const shipmentErrors = (order: Order, shipmentId: string | undefined): ValidationError[] =>
  shipmentId === undefined || order.shipments.some(({ id }) => id === fromTypeId("shp", shipmentId))
    ? []
    : [{ pointer: "/shipmentId", detail: "is not a shipment of this order" }];
