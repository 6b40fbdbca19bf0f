import { Command, InvalidArgumentError, Option } from "commander";
import { readVersion } from "../platform/config.ts";
import { IMPORT_MATCHES } from "../products/import/check-file.ts";
import {
  allOperations,
  argumentOf,
  type Field,
  fieldsOf,
  flagOf,
  helpOf,
  type Operation,
  type OptionValues,
  operationOf,
  ReadValue,
  type RequestCommand,
  resourcesInPath,
} from "./commands/command.ts";
import { COMMANDS } from "./commands/commands.ts";
import { formOf, InvalidValue } from "./commands/values.ts";
import type { ExposureVerb } from "./files.ts";

const HELP = `
With --url, or PARTNER_ORDERS_URL, it sends its requests to the back office of a running service, with the token in
PARTNER_ORDERS_TOKEN or OPERATOR_TOKEN. Without, it works beside the database, whether or not the service runs, with
the same environment variables as the service. Results go to standard output, errors and notes to standard error.

Exit codes:
  0  done
  1  the service rejected the request, or it failed; standard error says why
  2  the command line or the configuration is invalid
  3  the service or the database is not available, or the database lacks migrations
`;

/** The commands that are not one request each. */
export type SpecialCommands = {
  /** Called before any command, with the value of `--url`. */
  useService(url: string | undefined): void;
  importProducts(
    file: string,
    options: {
      merchant: string;
      match?: string;
      dryRun?: true;
      skipInvalid?: true;
      asWritten?: true;
      json?: true;
    },
  ): Promise<void>;
  changeExposure(verb: ExposureVerb, products: readonly string[], options: OptionValues): Promise<void>;
  exportOrders(options: OptionValues): Promise<void>;
  exportAudit(options: OptionValues): Promise<void>;
  doctor(options: { json?: true; strict?: true }): Promise<void>;
  migrate(): Promise<void>;
  distribute(options: { shards: number }): Promise<void>;
  /** Null: shows all operations. */
  api(operation: Operation | null, options: OptionValues): Promise<void>;
};

/** Where commander writes help and errors. It does not wait. */
export type ProgramTexts = { writeOut(text: string): void; writeErr(text: string): void };

/**
 * The command line as commander reads it.
 * @param words those of the command line: of the operations, only the one that they name becomes a command
 * @param run runs a command that is one request
 */
export function createProgram(
  words: readonly string[],
  texts: ProgramTexts,
  run: (command: RequestCommand, id: string | undefined, options: OptionValues) => Promise<void>,
  special: SpecialCommands,
): Command {
  const program = new Command("partner-orders-admin")
    .description("The operator's command line of Partner Orders.")
    .version(readVersion())
    .exitOverride()
    .configureOutput(texts)
    .showHelpAfterError("(see --help)")
    .addHelpText("after", HELP);
  program.enablePositionalOptions().addOption(serviceOption());
  program.hook("preAction", (_program, command) => {
    const { url } = command.opts();
    special.useService(!TAKES_OTHER_URL.has(command) && url !== undefined ? url : program.opts()["url"]);
  });
  const groups = new Map<string, Command>();
  const groupOf = (name: string): Command => {
    const group = groups.get(name) ?? program.command(name).description(GROUPS[name] ?? name);
    groups.set(name, group);
    return group;
  };
  for (const command of COMMANDS) addRequest(groupOf, command, run);
  addSpecial(program, groupOf, special);
  for (const verb of ["expose", "withdraw"] as const) addExposure(groupOf("product"), verb, special);
  addApi(program, words, special);
  return program;
}

/** Each command has the option, so that it can be typed last. It has no default here: the environment is read later. */
const serviceOption = (): Option =>
  new Option("--url <address>", "address of the back office of a running service");

/** Commands whose own `--url` means something else. They find the service by the option before the command. */
const TAKES_OTHER_URL = new WeakSet<Command>();

const GROUPS: Readonly<Record<string, string>> = {
  merchant: "merchants",
  account: "accounts of merchants",
  connection: "connections of merchants to partners",
  key: "API keys of connections",
  product: "products of merchants",
  order: "orders",
  shipment: "shipments",
  delivery: "webhook deliveries",
  facility: "facilities",
  stock: "stock at facilities",
  "work-list": "orders to pick and ship",
  "pick-list": "orders that one person has taken",
  audit: "the audit log",
  token: "tokens of the back office",
  endpoint: "webhook endpoints",
  person: "people who sign in to the back office",
  me: "who the command line acts as",
};

function addRequest(
  groupOf: (name: string) => Command,
  command: RequestCommand,
  run: Parameters<typeof createProgram>[2],
): void {
  const [group = "", verb = ""] = command.words.split(" ");
  const added = groupOf(group).command(verb).description(helpOf(command));
  const argument = argumentOf(command);
  if (argument !== null)
    added.argument(
      `<${argument}>`,
      argument === "order" ? "id of the order, or the partner's own" : `id of the ${argument}`,
    );
  const others = resourcesInPath(command).filter((other) => other !== argument);
  for (const resource of others)
    added.requiredOption(`--${resource} <id>`, required(`id of the ${resource}`));
  for (const field of fieldsOf(command))
    added.addOption(optionOf(field, flagOf(command, field), field.isRequired));
  if (argument === "order" && !others.includes("connection"))
    added.option("--connection <id>", "the connection, if several have an order with the partner's own id");
  if (operationOf(command.operationId).hasPages) added.option("--all", "show all pages");
  if (command.csvOperationId !== undefined) added.addOption(FORMAT);
  added.option("--json", "print exactly the response of the API");
  addService(added);
  added.action(() => run(command, added.args[0], added.opts()));
}

/** `--url`, unless the command has another option of this name. */
function addService(added: Command): void {
  if (added.options.some(({ long }) => long === "--url")) TAKES_OTHER_URL.add(added);
  else added.addOption(serviceOption());
}

const FORMAT = new Option("--format <format>", "csv: all of it as a file; text by default")
  .choices(["text", "csv"])
  .conflicts("json");

const required = (help: string): string => `${help} (required)`;

/** @param isMandatory commander ends without it. The service checks the members of a body that `api` sends. */
function optionOf(field: Field, flag: string, isMandatory: boolean): Option {
  const help = field.help.replace(/\s+/g, " ");
  const { placeholder, removal, read } = formOf(field);
  const text = field.isRequired ? required(help) : `${help}${removal}`;
  return new Option(`--${flag} <${placeholder}>`, text)
    .makeOptionMandatory(isMandatory)
    .argParser((value: string, previous: unknown) => {
      try {
        const now = read(value);
        // A list that is given in several options.
        const before = previous instanceof ReadValue ? previous.value : null;
        return new ReadValue(Array.isArray(now) && Array.isArray(before) ? [...before, ...now] : now);
      } catch (error) {
        if (error instanceof InvalidValue) throw new InvalidArgumentError(`It ${error.message}`);
        throw error;
      }
    });
}

/** Any request of the back office, with options made from its description. */
function addApi(program: Command, words: readonly string[], special: SpecialCommands): void {
  const api = program
    .command("api")
    .description("send any request of the back office API, and print the response")
    .argument("[operation]", "name of the operation; api <operation> --help shows its options")
    .option("--list", "show all operations")
    .action((name, { list }) => {
      if (name !== undefined) api.error(`error: unknown operation '${name}': api --list shows all`);
      return list === true ? special.api(null, {}) : api.help();
    });
  if (!words.includes("api")) return;
  const named = words.slice(words.indexOf("api")).find((word) => allOperations().has(word));
  if (named === undefined) return;
  const operation = operationOf(named);
  const added = api
    .command(operation.operationId)
    .description(`${operation.summary}\n\n${operation.method} ${operation.path}`);
  for (const field of operation.fields)
    added.addOption(optionOf(field, field.name, field.isRequired && field.in !== "body"));
  if (operation.hasPages) added.option("--all", "all pages as one");
  if (operation.takesJson)
    added.option(
      "--json <file>",
      "the whole body, as JSON; - is standard input. Other options are set in it",
    );
  if (operation.takesFile !== null)
    added.requiredOption("--file <file>", `the body, ${operation.takesFile}; - is standard input (required)`);
  addService(added);
  added.action(() => special.api(operation, added.opts()));
}

function addSpecial(program: Command, groupOf: (name: string) => Command, special: SpecialCommands): void {
  groupOf("product")
    .command("import")
    .description("create and update products from CSV or a workbook, all rows or none")
    .argument("<file>", "CSV or a workbook (.xlsx); - reads standard input")
    .requiredOption("--merchant <id>", required("id of the merchant"))
    .addOption(
      new Option("--match <match>", "how rows without an id find their product").choices([...IMPORT_MATCHES]),
    )
    .option("--dry-run", "import nothing, and show what an import would do")
    .option("--skip-invalid", "leave out rows with errors, and import the others")
    .option("--as-written", "import identifiers that look as if a spreadsheet has damaged them")
    .option("--json", "print exactly the response of the API")
    .addOption(serviceOption())
    .addHelpText("after", IMPORT_HELP)
    .action((file, options) => special.importProducts(file, options));
  groupOf("order")
    .command("export")
    .description("write real orders to standard output, connection by connection, oldest first")
    .option("--merchant <id>", "only orders of this merchant")
    .option("--connection <id>", "only orders of this connection")
    .option("--facility <id>", "only orders that this facility ships")
    .option(
      "--since <time>",
      "only orders created at or after this time, such as 2026-01-31 or 2026-01-31T12:00:00Z",
    )
    .option("--until <time>", "only orders created before this time")
    .option("--status <status>", "only orders with this status")
    .addOption(
      new Option(
        "--format <format>",
        "spreadsheet: one row per order line, safe to open; xlsx: the same as a workbook; csv: for programs; ndjson: one object per order",
      )
        .choices(["spreadsheet", "xlsx", "csv", "ndjson"])
        .default("spreadsheet"),
    )
    .addOption(serviceOption())
    .action((options) => special.exportOrders(options));
  groupOf("audit")
    .command("export")
    .description("write the audit log to standard output, one JSON object per line, newest first")
    .option("--merchant <id>", "only entries of this merchant")
    .option("--connection <id>", "only entries of this connection")
    .option("--actor <actor>", "only entries of this actor: its name, or its kind")
    .option("--action <action>", "only entries of this operation, such as createKey")
    .addOption(
      new Option("--kind <kind>", "only entries of this kind").choices(["change", "read", "sign-in"]),
    )
    .option("--subject <id>", "only entries about this id, such as that of an order")
    .option("--from <time>", "only entries at or after this time, such as 2026-01-31 or 2026-01-31T12:00:00Z")
    .option("--to <time>", "only entries before this time")
    .addOption(serviceOption())
    .action((options) => special.exportAudit(options));
  addDatabaseCommands(program, special);
}

/** These work beside the database only. */
function addDatabaseCommands(program: Command, special: SpecialCommands): void {
  program
    .command("doctor")
    .description("check configuration, database, clock, queues and partitions")
    .option("--strict", "exit with 1 also if a check warns")
    .option("--json", "print JSON")
    .action((options) => special.doctor(options));
  program
    .command("migrate")
    .description("apply the migrations that the database lacks, as a start of the service does")
    .action(() => special.migrate());
  program
    .command("distribute")
    .description("split the tables over the nodes of Citus by merchant; no process of the service may run")
    .addOption(
      new Option("--shards <count>", "parts of each table; more than nodes, so that nodes can be added")
        .argParser(readShardCount)
        .default(SHARDS_DEFAULT),
    )
    .action((options) => special.distribute(options));
}

const SHARDS_DEFAULT = 32;
const SHARDS_MAX = 1_024;

function readShardCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= SHARDS_MAX) return count;
  throw new InvalidArgumentError(`It must be a number between 1 and ${SHARDS_MAX}.`);
}

function addExposure(products: Command, verb: ExposureVerb, special: SpecialCommands): void {
  products
    .command(verb)
    .description(
      verb === "expose" ? "expose products to a connection" : "withdraw products from a connection",
    )
    .argument("[products...]", "ids of products")
    .requiredOption("--connection <id>", required("id of the connection"))
    .option("--all", "all products; to expose, all active ones")
    .option("--sku <sku>", "all products with this SKU")
    .option("--search <text>", "all products whose SKU or name contains this text")
    .option("--status <status>", "all products with this status: active or discontinued")
    .option("--exposed-to <id>", "all products that are exposed to this other connection")
    .option("--dry-run", "change nothing, and print how many products would change")
    .option("--json", "print JSON")
    .addOption(serviceOption())
    .action((ids, options) => special.changeExposure(verb, ids, options));
}

const IMPORT_HELP = `
The first row names the columns: sku, name, price (a decimal amount in the merchant's currency), and any of
weightGrams, barcode, lowStockBelow, description, imageUrl, status, id. A row with an id updates that product. For other rows,
--match says:
  id    create a product; a SKU that exists already is an error (default)
  sku   update the product with the SKU, or create one; a SKU of several products is an error
  none  create a product, also if the SKU exists already
`;
