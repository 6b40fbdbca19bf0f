import { Command } from "commander";
import { addEndpointCommands } from "./commands/endpoints.ts";
import { addEventCommands } from "./commands/events.ts";
import { addListenCommands } from "./commands/listen.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addOrderCommands } from "./commands/orders.ts";
import { addTestOrderCommands } from "./commands/test-orders.ts";
import { addVerifyCommand } from "./commands/verify.ts";
import { action } from "./session.ts";

/** A test compares it with the package. */
const VERSION = "0.1.0";

const EXAMPLES = `
Examples:
  export PARTNER_ORDERS_API=https://orders.example
  read -rs PARTNER_ORDERS_KEY && export PARTNER_ORDERS_KEY
  partner-orders whoami
  partner-orders test-orders walk
  partner-orders events list --json | jq .type

Exit codes: 0 done, 1 rejected by the service, 2 wrong usage, 3 not reachable, 4 not in time, 5 the program of --exec failed.`;

export function createProgram(): Command {
  const program = new Command("partner-orders")
    .description("The Partner Orders API from a terminal, for partners.")
    .version(VERSION)
    .option("--json", "print JSON: one line for each result, problems too")
    .option("--profile <name>", "profile of ~/.config/partner-orders/config.json, instead of the environment")
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  program
    .command("whoami")
    .description("Show the connection and the key.")
    .action(action(async ({ client, output }) => output.one(await client.me())));
  addOrderCommands(program);
  addTestOrderCommands(program);
  addEndpointCommands(program);
  addEventCommands(program);
  addListenCommands(program);
  addVerifyCommand(program);
  addMcpCommand(program);
  return program;
}
