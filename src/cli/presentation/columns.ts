type Json = Readonly<Record<string, unknown>>;

/** A column of a table: a member of the row under its own name, or a value under another one. */
export type Column = string | { readonly head: string; value(row: Json, now: Date): unknown };

export const headOf = (column: Column): string => (typeof column === "string" ? column : column.head);
export const valueIn = (column: Column, row: Json, now: Date): unknown =>
  typeof column === "string" ? row[column] : column.value(row, now);

/** A member of the row, or with a path such as `shippingAddress.countryCode` the member of a member. */
export const member = (head: string, path: string): Column => ({
  head,
  value: (row) => path.split(".").reduce<unknown>((value, name) => (value as Json | null)?.[name], row), // Of a response.
});

/** The sum of the quantities of an order's lines. */
export const QUANTITY: Column = {
  head: "units",
  value: ({ lines }) => (lines as { quantity: number }[]).reduce((sum, { quantity }) => sum + quantity, 0), // Every order has lines.
};

/** How long ago a row was created, as people say it. */
export const AGE: Column = {
  head: "age",
  value: ({ createdAt }, now) => ageOf(now.getTime() - Date.parse(String(createdAt))),
};

const UNITS = [
  ["days", 86_400_000, 2],
  ["h", 3_600_000, 2],
  ["min", 60_000, 1],
] as const;

/** A time in the largest unit of which it has enough to be exact: 95 min, 47 h, 3 days. */
export function ageOf(ms: number): string {
  for (const [unit, unitMs, countMin] of UNITS)
    if (ms >= unitMs * countMin) return `${Math.floor(ms / unitMs)} ${unit}`;
  return `${Math.max(0, Math.floor(ms / 1_000))} s`;
}
