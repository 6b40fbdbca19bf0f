import { describe, expect, it } from "vitest";
import { lineErrors, namedLines, readLineIds } from "../../../src/orders/changes/ship-request.ts";
import { toTypeId } from "../../../src/platform/ids.ts";

const COUNT = 100;
const uuid = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`;

/** An order of many lines that counts how often an id of a line is read. */
function anOrder() {
  const reads = { count: 0 };
  const lines = Array.from({ length: COUNT }, (_, n) => ({
    get id() {
      reads.count += 1;
      return uuid(n);
    },
    productId: "product",
    quantity: 1,
    shipmentId: null,
    splitFrom: null,
    returnedQuantity: 0,
    cancellationId: null,
  }));
  return { order: { lines }, reads };
}

describe("lineIds", () => {
  it("of as many lines as there can be are looked up, not compared one by one", () => {
    const { order, reads } = anOrder();
    const wrong = Array.from({ length: COUNT }, (_, n) => toTypeId("line", uuid(COUNT + n)));
    expect(lineErrors(order, readLineIds(wrong))).toHaveLength(COUNT);
    expect(reads.count).toBe(COUNT);
  });

  it("that name lines are their ids; an error names the position of each other one", () => {
    const { order } = anOrder();
    const named = readLineIds([toTypeId("line", uuid(1)), "line_no", toTypeId("line", uuid(COUNT))]);
    expect(lineErrors(order, named).map((error) => ("pointer" in error ? error.pointer : null))).toEqual([
      "/lineIds/1",
      "/lineIds/2",
    ]);
    expect(namedLines(named)).toEqual([uuid(1), uuid(COUNT)]);
  });

  it("that are absent mean all unshipped lines", () => {
    expect(namedLines(readLineIds(undefined))).toBeNull();
    expect(lineErrors(anOrder().order, null)).toEqual([]);
  });
});
