import type { Order, OrderLine } from "../../lifecycle/order.ts";
import { fromTypeId } from "../../platform/ids.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";

/** The ids of lines that a request names, each read once. Null in place of a text that is no id. */
export type NamedLines = readonly (string | null)[];

/** Reads `lineIds`. Null if it is absent, which means all unshipped lines. Called before the order is locked. */
export const readLineIds = (lineIds: readonly string[] | undefined): NamedLines | null =>
  lineIds?.map((text) => fromTypeId("line", text)) ?? null;

/** The lines that a request names; null for all unshipped lines. */
export const namedLines = (named: NamedLines | null): string[] | null =>
  named?.filter((id) => id !== null) ?? null;

/** An error for each id that names no line of the order. */
export function lineErrors(order: Pick<Order, "lines">, named: NamedLines | null): ValidationError[] {
  const ids = new Set(order.lines.map(({ id }) => id));
  return (named ?? []).flatMap((id, index) =>
    id !== null && ids.has(id)
      ? []
      : [{ pointer: `/lineIds/${index}`, detail: "is not a line of this order" }],
  );
}

/** Units of a line, as a request names them. */
export type LineQuantity = { readonly lineId: string; readonly quantity: number };

/**
 * An error for each item that names no line of the order, the same line as an earlier item, or more units than there
 * are. `quantityMax` is how many there are, and `meaning` describes them.
 */
export function lineQuantityErrors(
  order: Pick<Order, "lines">,
  requested: readonly LineQuantity[],
  quantityMax: (line: OrderLine) => number,
  meaning: string,
): ValidationError[] {
  const left = new Map(order.lines.map((line) => [line.id, line]));
  const taken = new Set<string>();
  return requested.flatMap(({ lineId, quantity }, index) => {
    const id = fromTypeId("line", lineId) ?? "";
    const line = left.get(id);
    const pointer = `/lines/${index}/lineId`;
    if (line === undefined) return [{ pointer, detail: "is not a line of this order" }];
    if (taken.has(id)) return [{ pointer, detail: "names the same line as an earlier item" }];
    taken.add(id);
    const maximum = quantityMax(line);
    if (quantity <= maximum) return [];
    return [{ pointer: `/lines/${index}/quantity`, detail: `must be at most ${maximum}, ${meaning}` }];
  });
}

/** The shipment that `shipmentId` names. Null if it is absent. */
export const namedShipment = (shipmentId: string | undefined): string | null =>
  shipmentId === undefined ? null : fromTypeId("shp", shipmentId);

export const shipmentErrors = (order: Order, shipmentId: string | undefined): ValidationError[] =>
  shipmentId === undefined || order.shipments.some(({ id }) => id === fromTypeId("shp", shipmentId))
    ? []
    : [{ pointer: "/shipmentId", detail: "is not a shipment of this order" }];
