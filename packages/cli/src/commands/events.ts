import type { Command } from "commander";
import type { Event, EventType } from "../../../sdk/src/index.ts";
import { action, count, LIMIT_DEFAULT, printList } from "../session.ts";

const orderOf = ({ data }: Event): string | null => ("order" in data ? data.order.id : null);

const COLUMNS = {
  ID: ({ id }: Event) => id,
  TYPE: ({ type }: Event) => type,
  ORDER: orderOf,
  SEQUENCE: ({ sequence }: Event) => sequence,
  TIME: ({ timestamp }: Event) => timestamp,
};

type Options = { order?: string; type?: EventType; cursor?: string; limit: number };

export function addEventCommands(program: Command): void {
  const events = program
    .command("events")
    .description("The events of the last 30 days, whether or not an endpoint receives them.");
  events
    .command("list")
    .description("List events, oldest first.")
    .option("--order <id>", "its id, or your externalOrderId")
    .option("--type <type>", "such as order.completed")
    .option("--limit <n>", "how many at most", count, LIMIT_DEFAULT)
    .action(
      action(async ({ client, output }, { order, type, limit }: Options) => {
        const query = {
          ...(order && { orderId: order }),
          ...(type && { type }),
          limit: Math.min(limit, 100),
        };
        await printList(output, client.events.list(query), limit, COLUMNS);
      }),
    );
  events
    .command("follow")
    .description("Print events as they happen, from the oldest one on, or after a cursor.")
    .option("--order <id>", "its id, or your externalOrderId")
    .option("--type <type>", "such as order.completed")
    .option(
      "--cursor <cursor>",
      "of the last batch that was read; with --json, the last line of each batch has it",
    )
    .action(
      action(async ({ client, output }, { order, type, cursor }: Options) => {
        const options = {
          ...(order && { orderId: order }),
          ...(type && { type }),
          ...(cursor && { cursor }),
        };
        // The cursor is of the batch: only its last event may carry it, or a reader that stops before would miss the others.
        for await (const batch of client.events.follow(options))
          for (const event of batch.events)
            output.line(event === batch.events.at(-1) ? { ...event, cursor: batch.cursor } : event, [
              event.timestamp,
              event.type,
              orderOf(event),
              event.sequence,
            ]);
      }),
    );
}
