import { distributeFunction, distributionColumnOf, ROOT, tablePlacement } from "./distribute.ts";

/**
 * The commands of a migration for a distributed database, each to be run alone: Citus sends the text of a command to all nodes.
 * A new table is distributed before it gets foreign keys, because no local table can reference a distributed one
 * (docs/design/distribution.md, "Migrations on Citus"). It is logged, because its rows could not follow a shard that moves. A
 * function of a merchant is to run on the merchant's node (docs/design/creating-orders.md, "One function stores a group").
 */
export const commandsOnCitus = (sql: string): string[] => splitCommands(sql).flatMap(placed);

const CREATE_TABLE =
  /^(create (?:unlogged )?table (\w+) \()(.*?)(\)(?: (?:with|partition by range) \([^()]*\))*)$/s;
const CREATE_FUNCTION = /^create (?:or replace )?function (\w+)\(\s*of_merchant\s+uuid\b/;
const FOREIGN_KEY = /^constraint \w+ foreign key\b/;
const PRIMARY_KEY = /^constraint \w+ primary key \((\w+)/;

function placed(command: string): string[] {
  const [, functionName] = CREATE_FUNCTION.exec(command) ?? [];
  if (functionName !== undefined) return [command, distributeFunction(functionName)];
  const [, begin = "", name = "", body = "", end = ""] = CREATE_TABLE.exec(command) ?? [];
  if (name === "") return [command];
  const parts = splitAtTop(body, ",");
  const key = parts.map((part) => PRIMARY_KEY.exec(part)?.[1]).find((column) => column !== undefined);
  const placement = tablePlacement({ name, keyColumn: key ?? null });
  if (placement === "on the coordinator") return [command];
  const rest = parts.filter((part) => !FOREIGN_KEY.test(part));
  return [
    `${begin.replace("unlogged ", "")}${rest.join(", ")}${end}`,
    placement === "on each node"
      ? `select create_reference_table('${name}')`
      : `select create_distributed_table('${name}', '${distributionColumnOf(name)}', colocate_with => '${ROOT}')`,
    ...parts.filter((part) => FOREIGN_KEY.test(part)).map((part) => `alter table ${name} add ${part}`),
  ];
}

/** What contains no end of a command: comments, quoted texts and names, and texts between dollars. */
const OPAQUE = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$).*?\1/gsy;

/** The commands of a script, without comments and semicolons. */
export const splitCommands = (sql: string): string[] => splitAtTop(sql, ";");

/** The parts of a text between separators that are in no parentheses and in no quotes. Comments are left out. */
export function splitAtTop(sql: string, separator: "," | ";"): string[] {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    OPAQUE.lastIndex = at;
    const [opaque] = OPAQUE.exec(sql) ?? [];
    const text = opaque ?? sql.charAt(at);
    at += text.length;
    if (text === "(") depth += 1;
    if (text === ")") depth -= 1;
    if (text === separator && depth === 0) parts.push("");
    else if (!/^(--|\/\*)/.test(text)) parts[parts.length - 1] += text;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
