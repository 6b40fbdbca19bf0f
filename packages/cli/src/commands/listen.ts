import type { Command } from "commander";
import { type CertifyOptions, certify } from "../certify.ts";
import { type ListenOptions, listen } from "../listen.ts";
import { action, count, several } from "../session.ts";
import { timeOf } from "../time.ts";
import { trigger } from "../trigger.ts";

const EXAMPLES = `
The endpoint is remembered: what happens while the program is not running is forwarded when it runs again.
With --exec, an endpoint is made for this run and deleted at its end; the program finds its secret in
PARTNER_ORDERS_WEBHOOK_SECRET.

Examples:
  partner-orders listen --forward-to http://localhost:3000/webhooks
  partner-orders listen --print-secret
  partner-orders listen --forward-to http://localhost:3000/webhooks --since 2h --order web-1001
  partner-orders listen --forward-to http://localhost:3000/webhooks --exec "npm test" --until order.completed --timeout 60`;

export function addListenCommands(program: Command): void {
  program
    .command("listen")
    .description("Forward events to a receiver on this machine, signed as they are.")
    .option("--forward-to <url>", "address of the receiver")
    .option("--mode <mode>", "test or live", "test")
    .option("--types <types>", "event types, after commas; default: those of a new endpoint", several)
    .option("--order <id>", "only events about this order; the others are acknowledged and not forwarded")
    .option("--since <time>", "first send again what failed since then: a time, or 90m, 2h, 1d", timeOf)
    .option("--print-secret", "print the signing secret, and end")
    .option("--exec <command>", "run a program, and end with it")
    .option("--until <type>", "end when the receiver has accepted an event of this type")
    .option("--timeout <seconds>", "end with exit code 4 after this time", count)
    .addHelpText("after", EXAMPLES)
    .action(action((session, options: ListenOptions) => listen(session, options)));
  program
    .command("certify [endpoint]")
    .description("Examine the receiver of a test endpoint, by default that of listen, and print the report.")
    .option("--exec <command>", "a program that creates the test order whose response is lost")
    .addHelpText(
      "after",
      '\nThe program of --exec finds the externalOrderId in CERTIFICATION_EXTERNAL_ORDER_ID. Ends with 0 if the run has passed.\n\nExample:\n  partner-orders certify whe_01m7y7np16fe68bxp4h91tdmdn --exec "node place-test-order.js"',
    )
    .action(
      action((session, endpointId: string | undefined, options: CertifyOptions) =>
        certify(session, endpointId, options),
      ),
    );
  program
    .command("trigger <type>")
    .description("Make an event happen: by a test order, or by a sample where no test order can.")
    .option("--endpoint <id>", "of a sample; default: the endpoint of listen")
    .addHelpText("after", "\nExample:\n  partner-orders trigger order.shipmentReturned")
    .action(
      action((session, type: string, { endpoint }: { endpoint?: string }) =>
        trigger(session, type, endpoint),
      ),
    );
}
