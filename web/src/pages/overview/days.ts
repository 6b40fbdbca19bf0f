import type { OrderStatus, Overview } from "../../api/schema.d.ts";
import { ORDER_STATUSES } from "../orders/queries.ts";

const DAY_MS = 86_400_000;

/** How many orders of a day have each status. */
export type DayOfOrders = Readonly<Record<OrderStatus, number>> & {
  /** In UTC, such as `2026-11-22`. */
  readonly day: string;
  readonly all: number;
};

/** Every day of the period that was counted, oldest first, also those without orders: the chart has a place for each. */
export function daysOf(
  { ordersByDay, completeSince, readAt }: Pick<Overview, "ordersByDay" | "completeSince" | "readAt">,
  days: number,
): DayOfOrders[] {
  const known = new Map(ordersByDay.map(({ day, counts }) => [day, counts]));
  const today = Math.floor(Date.parse(readAt) / DAY_MS);
  const first = Math.max(today - days + 1, Math.ceil(Date.parse(completeSince) / DAY_MS));
  return Array.from({ length: Math.max(0, today - first + 1) }, (_, index) => {
    const day = new Date((first + index) * DAY_MS).toISOString().slice(0, 10);
    const counts = new Map(known.get(day)?.map(({ status, count }) => [status, count]));
    const byStatus = Object.fromEntries(
      ORDER_STATUSES.map((status) => [status, counts.get(status) ?? 0]),
    ) as Record<OrderStatus, number>; // The list has all statuses.
    return { day, ...byStatus, all: ORDER_STATUSES.reduce((sum, status) => sum + byStatus[status], 0) };
  });
}

export const startOfUtcDay = (day: string): string => `${day}T00:00:00.000Z`;

export const endOfUtcDay = (day: string): string =>
  new Date(Date.parse(startOfUtcDay(day)) + DAY_MS).toISOString();
