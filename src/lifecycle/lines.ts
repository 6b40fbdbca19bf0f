import type { Order, OrderLine } from "./order.ts";
import type { LinePart } from "./transition.ts";

/** Decision 0086: an order of as many lines as possible can split each of them once. */
export const LINES_MAX = 200;

/** The line of the request that a line is, or was split from. */
const requestedId = ({ id, splitFrom }: OrderLine): string => splitFrom ?? id;

/** The lines in the order of the request, those that were split from one line beside each other. */
export const inRequestOrder = (lines: readonly OrderLine[]): readonly OrderLine[] =>
  lines.every(({ splitFrom }) => splitFrom === null)
    ? lines
    : [...Map.groupBy(lines, requestedId).values()].flat();

/** The lines as they were requested. The quantities of split lines are added up again. */
export const asRequested = (lines: readonly OrderLine[]): Pick<OrderLine, "productId" | "quantity">[] =>
  [...Map.groupBy(lines, requestedId).values()].map((parts) => ({
    productId: parts[0]?.productId ?? "", // A group is never empty.
    quantity: parts.reduce((sum, { quantity }) => sum + quantity, 0),
  }));

/**
 * Splits lines of which only some units ship. The line keeps these; the other units become a new line behind it. A
 * part that is the whole line splits nothing.
 */
export function splitLines(lines: readonly OrderLine[], parts: readonly LinePart[]): readonly OrderLine[] {
  const partOf = new Map(parts.map((part) => [part.lineId, part]));
  return lines.flatMap((line) => {
    const part = partOf.get(line.id);
    if (part === undefined || part.quantity >= line.quantity) return [line];
    const rest = {
      ...line,
      id: part.restId,
      quantity: line.quantity - part.quantity,
      splitFrom: requestedId(line),
    };
    return [{ ...line, quantity: part.quantity }, rest];
  });
}

/** A line whose units became fewer, and the new line with the others. */
export type LineSplit = { readonly line: OrderLine; readonly rest: OrderLine };

/** The splits between two states of an order. Of one line of the request, at most one line has not shipped yet. */
export function splitsBetween(before: Pick<Order, "lines">, after: Pick<Order, "lines">): LineSplit[] {
  const stored = new Map(before.lines.map((line) => [line.id, line]));
  const reduced = after.lines.filter((line) => line.quantity < (stored.get(line.id)?.quantity ?? 0));
  return after.lines
    .filter(({ id }) => !stored.has(id))
    .flatMap((rest) => {
      const line = reduced.find((each) => requestedId(each) === requestedId(rest));
      return line === undefined ? [] : [{ line, rest }];
    });
}
