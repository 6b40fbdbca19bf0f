import { distributeFunction } from "./distribution-sql.ts";
import { distributionColumnOf, placementOf, ROOT } from "./placement.ts";
import { splitAtTop, splitCommands } from "./split-commands.ts";

/**
 * The commands of a migration for a distributed database, each to be run alone: Citus sends the text of a command to
 * all nodes. A new table is distributed before it gets foreign keys, because no local table can reference a
 * distributed one (decision 0134). It is logged, because its rows could not follow a shard that moves. A function of a merchant
 * is to run on the merchant's node (decision 0169).
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
  const placement = placementOf({ name, keyColumn: key ?? null });
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
