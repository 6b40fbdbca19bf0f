import { systemClock } from "../platform/time.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Rows under the names of their columns, aligned. */
export function presentTable(
  rows: readonly Json[],
  columns: readonly Column[],
  now = systemClock.now(),
): string {
  const cells = rows.map((row) => columns.map((column) => presentCell(valueIn(column, row, now))));
  const heads = columns.map((column) => labelOf(headOf(column)).toUpperCase());
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  return [heads, ...cells].map((row) => `${line(row)}\n`).join("");
}

/** One member per line; the members of a member are indented. */
export function presentObject(object: Json, indent = ""): string {
  const width = Math.max(0, ...Object.keys(object).map((name) => labelOf(name).length));
  return Object.entries(object)
    .map(([name, value]) => {
      const label = `${indent}${labelOf(name)}`;
      if (isList(value)) return `${label}\n${value.map((item) => presentItem(item, indent)).join("")}`;
      if (isObject(value) && presentMoney(value) === null)
        return `${label}\n${presentObject(value, `${indent}  `)}`;
      return `${indent}${labelOf(name).padEnd(width)}  ${presentText(value)}\n`;
    })
    .join("");
}

const presentItem = (item: Json, indent: string): string =>
  presentObject(item, `${indent}    `).replace(`${indent}    `, `${indent}  - `);

/** A table shows how many items a list has; `show` shows the items. */
const presentCell = (value: unknown): string => (isList(value) ? String(value.length) : presentText(value));

/** A value on one line, as people read it. */
export function presentText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(presentText).join(", ");
  if (isObject(value)) return presentMoney(value) ?? JSON.stringify(value);
  return harmless(String(value));
}

const presentMoney = ({ amount, currency, ...others }: Json): string | null =>
  typeof amount === "string" && typeof currency === "string" && Object.keys(others).length === 0
    ? `${amount} ${currency}`
    : null;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

// Texts come from partners: a terminal must not get its control characters from them.
const harmless = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");

/** `accountEmail` as people write it. */
export const labelOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A problem document: its title and detail, and each error with its position. */
export function presentProblem({ title, detail, errors }: Json): string {
  return [
    `${presentText(title)}: ${presentText(detail)}`,
    ...(isList(errors) ? errors : []).map((error) => `  - ${presentError(error)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** An error of a request, or of a file: with its position, and what the cell contains. */
export function presentError({ line, column, value, pointer, parameter, header, detail }: Json): string {
  const location = [
    line === undefined ? null : `line ${line}`,
    ...[column, pointer, parameter, header].map((part) => (part === undefined ? null : presentText(part))),
  ].filter((part) => part !== null);
  const cell = value === undefined ? "" : ` ${JSON.stringify(presentText(value))}`;
  return `${location.join(", ")}${cell}: ${presentText(detail)}`;
}

/** A column of a table: a member of the row under its own name, or a value under another one. */
export type Column = string | { readonly head: string; value(row: Json, now: Date): unknown };

const headOf = (column: Column): string => (typeof column === "string" ? column : column.head);
const valueIn = (column: Column, row: Json, now: Date): unknown =>
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
function ageOf(ms: number): string {
  for (const [unit, unitMs, countMin] of UNITS)
    if (ms >= unitMs * countMin) return `${Math.floor(ms / unitMs)} ${unit}`;
  return `${Math.max(0, Math.floor(ms / 1_000))} s`;
}
