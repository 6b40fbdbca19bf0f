type Json = Readonly<Record<string, unknown>>;

/** Rows under the names of their columns, aligned. */
export function presentTable(rows: readonly Json[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((column) => presentCell(row[column])));
  const heads = columns.map((column) => wordsOf(column).toUpperCase());
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

/** Members one below the other; what is inside a member is indented. */
export function presentThing(thing: Json, indent = ""): string {
  const width = Math.max(0, ...Object.keys(thing).map((name) => wordsOf(name).length));
  return Object.entries(thing)
    .map(([name, value]) => {
      const label = `${indent}${wordsOf(name)}`;
      if (isList(value)) return `${label}\n${value.map((item) => presentItem(item, indent)).join("")}`;
      if (isThing(value) && presentMoney(value) === null)
        return `${label}\n${presentThing(value, `${indent}  `)}`;
      return `${indent}${wordsOf(name).padEnd(width)}  ${presentValue(value)}\n`;
    })
    .join("");
}

const presentItem = (item: Json, indent: string): string =>
  presentThing(item, `${indent}    `).replace(`${indent}    `, `${indent}  - `);

/** Attempts and the like are counted in a table, and shown by `show`. */
const presentCell = (value: unknown): string => (isList(value) ? String(value.length) : presentValue(value));

function presentValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(presentValue).join(", ");
  if (isThing(value)) return presentMoney(value) ?? JSON.stringify(value);
  return harmless(String(value));
}

const presentMoney = ({ amount, currency, ...others }: Json): string | null =>
  typeof amount === "string" && typeof currency === "string" && Object.keys(others).length === 0
    ? `${amount} ${currency}`
    : null;

const isThing = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(isThing);

// Texts come from partners: what would steer a terminal must not reach it.
const harmless = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");

/** `accountEmail` as people write it. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A problem document: what was refused, and each fault with its place. */
export function presentProblem({ title, detail, errors }: Json): string {
  const faults = isList(errors) ? errors : [];
  return [
    `${presentValue(title)}: ${presentValue(detail)}`,
    ...faults.map((fault) => `  - ${presentFault(fault)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function presentFault({ line, column, pointer, parameter, header, detail }: Json): string {
  const places = [
    line === undefined ? null : `line ${line}`,
    ...[column, pointer, parameter, header].map((place) =>
      place === undefined ? null : presentValue(place),
    ),
  ].filter((place) => place !== null);
  return `${places.join(", ")}: ${presentValue(detail)}`;
}
