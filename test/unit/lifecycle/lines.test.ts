import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { LinePart, Order, OrderLine } from "../../../src/lifecycle/order.ts";
import {
  asRequested,
  inRequestOrder,
  LINES_MAX,
  splitLines,
  splitsBetween,
} from "../../../src/lifecycle/parts.ts";
import { anOrder, NOW, REAL } from "../../support/lifecycle-orders.ts";

const line = (id: string, quantity: number, splitFrom: string | null = null): OrderLine => ({
  id,
  productId: `product of ${splitFrom ?? id}`,
  quantity,
  shipmentId: null,
  splitFrom,
  returnedQuantity: 0,
  cancellationId: null,
});
const part = (lineId: string, quantity: number, restId = `rest of ${lineId}`): LinePart => ({
  lineId,
  quantity,
  restId,
});
const orderOf = (lines: readonly OrderLine[], fields: Partial<Order> = {}) =>
  anOrder({ ...REAL, status: "ACCEPTED", ...fields, lines });
const ship = (order: Order, ...parts: LinePart[]) =>
  applyTransition(
    order,
    { name: "ship", lineIds: parts.map(({ lineId }) => lineId), parts, newShipmentId: "parcel" },
    NOW,
  );

describe("a line of which a part ships", () => {
  it("keeps the part, and the rest is a new line behind it", () => {
    const { order } = ship(orderOf([line("a", 5), line("b", 1)]), part("a", 3, "c"));
    expect(order.lines).toEqual([
      { ...line("a", 3), shipmentId: "parcel" },
      { ...line("c", 2, "a"), productId: "product of a" },
      line("b", 1),
    ]);
    expect(order.shipments.map(({ id }) => id)).toEqual(["parcel"]);
  });

  it("can be split again, and all parts name the line of the request", () => {
    const first = ship(orderOf([line("a", 5)]), part("a", 1, "b")).order;
    const second = ship(first, part("b", 3, "c")).order;
    expect(second.lines.map(({ id, quantity, splitFrom }) => [id, quantity, splitFrom])).toEqual([
      ["a", 1, null],
      ["b", 3, "a"],
      ["c", 1, "a"],
    ]);
  });

  it.each([5, 6])("is not split by all of its units or more: %i of 5", (quantity) => {
    const lines = [line("a", 5)];
    expect(splitLines(lines, [part("a", quantity)])).toEqual(lines);
  });

  it("is not split if it has shipped", () => {
    const shipped = orderOf([{ ...line("a", 5), shipmentId: "other" }], { status: "IN_PROGRESS" });
    expect(ship(shipped, part("a", 2))).toEqual({
      outcome: "rejected",
      order: shipped,
      rule: "nothing_to_ship",
    });
  });

  it.each([
    [LINES_MAX - 1, "applied"],
    [LINES_MAX, "rejected"],
  ])("of an order of %i lines is %s", (count, outcome) => {
    const lines = Array.from({ length: count }, (_, index) => line(`${index}`, 2));
    const result = ship(orderOf(lines), part("0", 1));
    expect(result).toMatchObject(outcome === "applied" ? { outcome } : { outcome, rule: "too_many_lines" });
  });

  it("does not keep an order of as many lines as possible from shipping whole lines", () => {
    const lines = Array.from({ length: LINES_MAX + 1 }, (_, index) => line(`${index}`, 2));
    expect(ship(orderOf(lines), part("0", 2)).outcome).toBe("applied");
  });
});

describe("the lines of the request", () => {
  const stored = [line("a", 1), line("b", 4), line("c", 2, "a"), line("d", 3, "a")];

  it("are followed by the lines that were split from them", () => {
    expect(inRequestOrder(stored).map(({ id }) => id)).toEqual(["a", "c", "d", "b"]);
    const whole = stored.slice(0, 2);
    expect(inRequestOrder(whole)).toBe(whole);
  });

  it("have the quantities that were requested", () => {
    expect(asRequested(stored)).toEqual([
      { productId: "product of a", quantity: 6 },
      { productId: "product of b", quantity: 4 },
    ]);
  });
});

it("the splits between two states are those of the lines that became smaller", () => {
  const before = orderOf([line("a", 1), line("b", 9, "a"), line("c", 4), line("d", 4)]);
  const { order: after } = ship(before, part("b", 2, "e"), part("c", 1, "f"), part("d", 4, "g"));
  expect(splitsBetween(before, after).map((split) => [split.line.id, split.rest.id])).toEqual([
    ["b", "e"],
    ["c", "f"],
  ]);
  expect(splitsBetween(after, after)).toEqual([]);
});
