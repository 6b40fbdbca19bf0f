import type { ReturnCondition, ReturnReason, ReturnRequest, ScannedOrder } from "../../api/schema.d.ts";

export type ReturnableLine = Pick<
  ScannedOrder["lines"][number],
  "id" | "name" | "sku" | "quantity" | "shipmentId" | "returnedQuantity"
>;
type WithLines = { readonly lines: readonly ReturnableLine[] };

/** The lines of which something is with the buyer, and how much. */
export const linesOut = ({ lines }: WithLines): readonly (ReturnableLine & { readonly out: number })[] =>
  lines
    .filter(({ shipmentId }) => shipmentId !== null)
    .map((line) => ({ ...line, out: line.quantity - line.returnedQuantity }))
    .filter(({ out }) => out > 0);

/** What a code is taken to have brought back, by line: all that is out of the parcel that it names, else of all parcels. */
export function unitsBack(
  { lines, shipments }: Pick<ScannedOrder, "shipments"> & WithLines,
  code: string,
): Record<string, number> {
  const named = shipments
    .filter(({ id, trackingNumber, scannedTrackingNumber }) =>
      [id, trackingNumber, scannedTrackingNumber].some((one) => one?.toLowerCase() === code.toLowerCase()),
    )
    .map(({ id }) => id);
  const out = linesOut({ lines });
  const isNamed = ({ shipmentId }: ReturnableLine) => shipmentId !== null && named.includes(shipmentId);
  const isAny = !out.some(isNamed);
  return Object.fromEntries(out.map((line) => [line.id, isAny || isNamed(line) ? line.out : 0]));
}

/**
 * What came back, as the API takes it: a whole shipment by its id, which can always be recorded, else units of lines.
 * Null if nothing came back.
 */
export function goodsOf(
  order: WithLines,
  counts: Readonly<Record<string, number>>,
): Pick<ReturnRequest, "shipmentId" | "lines"> | null {
  const out = linesOut(order);
  const back = out.filter(({ id }) => (counts[id] ?? 0) > 0);
  const [first] = back;
  if (first === undefined) return null;
  const isWhole =
    back.every(({ id, out: left, shipmentId }) => counts[id] === left && shipmentId === first.shipmentId) &&
    out.filter(({ shipmentId }) => shipmentId === first.shipmentId).length === back.length;
  return isWhole && first.shipmentId !== null
    ? { shipmentId: first.shipmentId }
    : { lines: back.map(({ id }) => ({ lineId: id, quantity: counts[id] ?? 0 })) };
}

/** Goods that are broken are not sold again: the service rejects that. */
export const canRestock = (condition: ReturnRequest["condition"] | null): boolean =>
  condition !== "damaged" && condition !== "defective";

export const RETURN_REASONS = [
  "undeliverable",
  "refused",
  "unwanted",
  "damaged",
  "defective",
  "wrong_item",
  "not_as_described",
  "other",
] as const satisfies readonly ReturnReason[];

export const RETURN_CONDITIONS = [
  "unopened",
  "opened",
  "damaged",
  "defective",
] as const satisfies readonly ReturnCondition[];
