import { Command, InvalidArgumentError, Option } from "commander";
import { readVersion } from "../platform/config.ts";
import type { Output } from "./output.ts";
import {
  type Field,
  fieldsOf,
  type OptionValues,
  pathParameters,
  ReadValue,
  type RequestCommand,
} from "./requests/command.ts";
import { OFFICE_COMMANDS } from "./requests/commands.ts";
import { HOUSE_COMMANDS } from "./requests/house-commands.ts";
import { ORDER_COMMANDS } from "./requests/order-commands.ts";
import { InvalidValue } from "./requests/values.ts";

const HELP = `
Works whether or not the service runs, with the same environment variables as the service.
Results go to standard output, refusals and notes to standard error.

Exit codes:
  0  done
  1  refused or failed; standard error says why
  2  the command line or the configuration is invalid
  3  the database is out of reach, or lacks migrations
`;

/** The commands that are one request each. */
export const COMMANDS: readonly RequestCommand[] = [...OFFICE_COMMANDS, ...ORDER_COMMANDS, ...HOUSE_COMMANDS];

/** What the commands do that are more than one request. */
export type SpecialCommands = {
  importProducts(file: string, options: { merchant: string; json?: true }): Promise<void>;
  exportOrders(options: OptionValues): Promise<void>;
  doctor(options: { json?: true }): Promise<void>;
  migrate(): Promise<void>;
};

/** The command line as commander reads it. @param run does a command that is one request. */
export function createProgram(
  output: Output,
  run: (command: RequestCommand, id: string | undefined, options: OptionValues) => Promise<void>,
  special: SpecialCommands,
): Command {
  const program = new Command("partner-orders")
    .description("The operator's command line of Partner Orders.")
    .version(readVersion())
    .exitOverride()
    .configureOutput({ writeOut: (text) => void output.write(text), writeErr: output.note })
    .showHelpAfterError("(--help tells more)")
    .addHelpText("after", HELP);
  const groups = new Map<string, Command>();
  const groupOf = (name: string): Command => {
    const group = groups.get(name) ?? program.command(name).description(`work with ${GROUPS[name] ?? name}`);
    groups.set(name, group);
    return group;
  };
  for (const command of COMMANDS) addRequest(groupOf, command, run);
  addSpecial(program, groupOf, special);
  return program;
}

const GROUPS: Readonly<Record<string, string>> = {
  merchant: "merchants",
  connection: "merchants' connections to partners",
  key: "the keys of connections",
  product: "catalogues",
  order: "orders",
  shipment: "shipments",
  delivery: "webhook deliveries",
  facility: "facilities and what shipping from them costs",
  stock: "what lies at facilities",
  account: "merchants' accounts",
};

function addRequest(
  groupOf: (name: string) => Command,
  command: RequestCommand,
  run: Parameters<typeof createProgram>[1],
): void {
  const [group = "", verb = ""] = command.words.split(" ");
  const added = groupOf(group).command(verb).description(command.help);
  const parameters = pathParameters(command);
  const takesId = parameters.includes("id");
  if (takesId) added.argument(`<${group}>`, `the ${group}'s id`);
  for (const name of parameters.filter((parameter) => parameter !== "id"))
    added.requiredOption(`--${name} <id>`, `the ${name}'s id`);
  for (const field of fieldsOf(command)) added.addOption(optionOf(field));
  if (command.columns !== undefined) added.option("--all", "every page");
  added.option("--json", "exactly what the API answers");
  added.action(() => run(command, takesId ? added.args[0] : undefined, added.opts()));
}

function optionOf({ flag, help, required = false, read }: Field): Option {
  const option = new Option(flag, help).makeOptionMandatory(required);
  if (read === undefined) return option;
  return option.argParser((text) => {
    try {
      return new ReadValue(read(text));
    } catch (error) {
      if (error instanceof InvalidValue) throw new InvalidArgumentError(`It ${error.message}`);
      throw error;
    }
  });
}

function addSpecial(program: Command, groupOf: (name: string) => Command, special: SpecialCommands): void {
  groupOf("product")
    .command("import")
    .description("create and change products from CSV, all rows or none")
    .argument("<file>", "CSV in UTF-8; - reads standard input")
    .requiredOption("--merchant <id>", "the merchant's id")
    .option("--json", "exactly what the API answers")
    .addHelpText("after", IMPORT_HELP)
    .action((file, options) => special.importProducts(file, options));
  groupOf("order")
    .command("export")
    .description("write all real orders to standard output, oldest first within a connection")
    .option("--merchant <id>", "only of this merchant")
    .option("--connection <id>", "only of this connection")
    .option("--since <time>", "only created then or later, such as 2026-01-31 or 2026-01-31T12:00:00Z")
    .option("--until <time>", "only created before")
    .option("--status <status>", "only with this status")
    .addOption(
      new Option("--format <format>", "a row per order line, or an object per order")
        .choices(["csv", "ndjson"])
        .default("csv"),
    )
    .action((options) => special.exportOrders(options));
  program
    .command("doctor")
    .description("check configuration, database, clock, queues and partitions")
    .option("--json", "as JSON")
    .action((options) => special.doctor(options));
  program
    .command("migrate")
    .description("bring the database's schema up to date, as a start of the service does")
    .action(() => special.migrate());
}

const IMPORT_HELP = `
The first row names the columns: sku, name, price (a decimal amount in the merchant's currency), and any of
weightGrams, description, imageUrl, status, id. A row with an id changes that product, others create one.
`;
