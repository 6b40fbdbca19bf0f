import { systemClock } from "../../platform/clock.ts";
import { type Column, headOf, valueIn } from "./columns.ts";

type Json = Readonly<Record<string, unknown>>;

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

function presentError({ line, column, pointer, parameter, header, detail }: Json): string {
  const location = [
    line === undefined ? null : `line ${line}`,
    ...[column, pointer, parameter, header].map((part) => (part === undefined ? null : presentText(part))),
  ].filter((part) => part !== null);
  return `${location.join(", ")}: ${presentText(detail)}`;
}
