/** How results are printed: tables for people, JSON lines for programs. */
export type Output = {
  readonly isJson: boolean;
  /** One result. */
  one(item: object): void;
  /** One line of a list or of a log. Its columns are for people. */
  line(item: object, columns: readonly unknown[]): void;
  /** The rows of a list. */
  rows<T extends object>(items: readonly T[], columns: Columns<T>): void;
  /** What is said beside the results, on standard error. */
  note(text: string): void;
};

/** The columns of a table: its titles, and what is in them. */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** Names and notes are other people's texts. Control characters in them could rewrite what a terminal shows. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ");

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "-";
  return plain(Array.isArray(value) ? value.join(",") : String(value));
};

export function createOutput(isJson: boolean): Output {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const json = (item: object) => print(JSON.stringify(item));
  return {
    isJson,
    one: (item) => (isJson ? json(item) : print(fieldsOf(item).join("\n"))),
    line: (item, columns) => (isJson ? json(item) : print(columns.map(cellOf).join("  "))),
    rows: (items, columns) => {
      if (isJson) return items.forEach(json);
      const table = [
        Object.keys(columns),
        ...items.map((item) => Object.values(columns).map((of) => cellOf(of(item)))),
      ];
      const widths = Object.keys(columns).map((_, index) =>
        Math.max(...table.map((row) => row[index]?.length ?? 0)),
      );
      for (const row of table)
        print(
          row
            .map((cell, index) => cell.padEnd(widths[index] ?? 0))
            .join("  ")
            .trimEnd(),
        );
    },
    note: (text) => void process.stderr.write(`${plain(text)}\n`),
  };
}

/** A line for each member, those of objects and lists below it. */
function fieldsOf(item: object, indent = ""): string[] {
  return Object.entries(item).flatMap(([name, value]) => {
    const label = Array.isArray(item) ? "-" : `${plain(name)}:`;
    if (typeof value !== "object" || value === null) return `${indent}${label} ${cellOf(value)}`;
    const lines = fieldsOf(value, `${indent}  `);
    return lines.length === 0 ? `${indent}${label} -` : [`${indent}${label}`, ...lines];
  });
}
