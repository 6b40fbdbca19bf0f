import { expect } from "vitest";
import { ORDER_STATUSES, type OrderStatus } from "../../src/lifecycle/order.ts";

/** The cells of a table as cases: status, transition, what comes of it. */
export function casesOf(cells: string): [OrderStatus, string, string][] {
  const [head = [], ...rows] = cells
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([name = "", ...results]) => {
    expect(results, name).toHaveLength(head.length);
    return results.map((result, index): [OrderStatus, string, string] => [
      head[index] as OrderStatus, // The head row names statuses.
      name,
      result,
    ]);
  });
}

export const isStatus = (text: string): boolean => (ORDER_STATUSES as readonly string[]).includes(text);
