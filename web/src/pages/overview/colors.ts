import type { OrderStatus } from "../../api/schema.d.ts";

/** The colors of the chart have a contrast of 3 with the page, light and dark (WCAG 2.2, 1.4.11). */
export const COLORS: Readonly<Record<OrderStatus, string>> = {
  NEW: "blue.6",
  PROCESSING: "orange.8",
  ACCEPTED: "cyan.7",
  IN_PROGRESS: "indigo.5",
  COMPLETED: "teal.8",
  CANCELED: "gray.6",
  RETURNED: "grape.6",
};
