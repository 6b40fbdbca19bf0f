import type { Order } from "../../lifecycle/order.ts";
import { fromTypeId } from "../../platform/ids.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";

/** Lines that a request names by `lineIds`; absent: null, which means all unshipped ones. */
export const namedLines = (lineIds: readonly string[] | undefined): string[] | null =>
  lineIds?.flatMap((text) => fromTypeId("line", text) ?? []) ?? null;

/** Those of the ids that name no line of the order. */
export const lineErrors = (order: Order, lineIds: readonly string[] | undefined): ValidationError[] =>
  (lineIds ?? []).flatMap((text, index) =>
    order.lines.some(({ id }) => id === fromTypeId("line", text))
      ? []
      : [{ pointer: `/lineIds/${index}`, detail: "is not a line of this order" }],
  );

/** The shipment that a request names by `shipmentId`; absent: null. */
export const namedShipment = (shipmentId: string | undefined): string | null =>
  shipmentId === undefined ? null : fromTypeId("shp", shipmentId);

export const shipmentErrors = (order: Order, shipmentId: string | undefined): ValidationError[] =>
  shipmentId === undefined || order.shipments.some(({ id }) => id === fromTypeId("shp", shipmentId))
    ? []
    : [{ pointer: "/shipmentId", detail: "is not a shipment of this order" }];
