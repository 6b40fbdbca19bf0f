import type { Command } from "commander";
import type {
  Delivery,
  DeliveryStatus,
  EventType,
  Mode,
  WebhookEndpoint,
  WebhookEndpointKind,
  WebhookEndpointRequest,
  WebhookEndpointUpdate,
} from "../../../sdk/src/index.ts";
import { UsageError } from "../exit.ts";
import type { Columns } from "../output.ts";
import { action, count, LIMIT_DEFAULT, printList, readJson, several } from "../session.ts";
import { timeOf } from "../time.ts";

const ENDPOINT_COLUMNS: Columns<WebhookEndpoint> = {
  ID: ({ id }) => id,
  KIND: ({ kind }) => kind,
  MODE: ({ mode }) => mode,
  STATUS: ({ status, pauseReason }) => (pauseReason === null ? status : `${status} (${pauseReason})`),
  FAILURES: ({ consecutiveFailures }) => consecutiveFailures,
  ADDRESS: ({ url, description }) => url ?? description,
};

const DELIVERY_COLUMNS: Columns<Delivery> = {
  ID: ({ id }) => id,
  TYPE: ({ eventType }) => eventType,
  ORDER: ({ orderId }) => orderId,
  STATUS: ({ status }) => status,
  ATTEMPTS: ({ attemptCount }) => attemptCount,
  RESPONSE: ({ attempts }) => attempts.at(-1)?.responseStatus ?? attempts.at(-1)?.error,
  CREATED: ({ createdAt }) => createdAt,
};

type EndpointOptions = {
  url?: string;
  kind?: WebhookEndpointKind;
  mode?: Mode;
  types?: EventType[];
  description?: string;
  maxInFlight?: number;
  alertEmail?: string | null;
  headersFile?: string;
};

async function requestOf({
  types,
  headersFile,
  ...options
}: EndpointOptions): Promise<WebhookEndpointRequest> {
  // In a file, because they may be keys of a gateway, and others can see the arguments of a program.
  const headers = headersFile === undefined ? undefined : await readJson<Record<string, string>>(headersFile);
  return { ...options, ...(types && { eventTypes: types }), ...(headers && { headers }) };
}

export function addEndpointCommands(program: Command): void {
  const endpoints = program.command("endpoints").description("Where events are sent to.");
  const withSettings = (command: Command) =>
    command
      .option("--url <url>", "address of a push endpoint")
      .option("--types <types>", "event types, after commas", several)
      .option("--description <text>")
      .option("--max-in-flight <n>", "requests at the same time", count)
      .option(
        "--headers-file <file>",
        "JSON object with headers to add to each request; {} removes them, - is standard input",
      )
      .option(
        "--alert-email <address>",
        'who is warned if it fails, beside your people; "" removes the address',
        (address) => (address === "" ? null : address),
      );
  endpoints
    .command("list")
    .option("--limit <n>", "how many at most", count, LIMIT_DEFAULT)
    .description("List endpoints, oldest first.")
    .action(
      action(async ({ client, output }, { limit }: { limit: number }) =>
        printList(
          output,
          client.webhookEndpoints.list({ limit: Math.min(limit, 100) }),
          limit,
          ENDPOINT_COLUMNS,
        ),
      ),
    );
  withSettings(endpoints.command("create"))
    .description("Register an endpoint. Its signing secret is shown only now.")
    .option("--kind <kind>", "push or pull")
    .option("--mode <mode>", "live or test")
    .addHelpText(
      "after",
      "\nExample:\n  partner-orders endpoints create --url https://shop.example/webhooks --mode test",
    )
    .action(
      action(async ({ client, output }, options: EndpointOptions) =>
        output.one(await client.webhookEndpoints.create(await requestOf(options))),
      ),
    );
  endpoints
    .command("get <endpoint>")
    .description("Show an endpoint and its health.")
    .action(
      action(async ({ client, output }, id: string) => output.one(await client.webhookEndpoints.get(id))),
    );
  withSettings(endpoints.command("update <endpoint>"))
    .description("Change an endpoint. What is not named stays.")
    .action(
      action(async ({ client, output }, id: string, options: EndpointOptions) => {
        const changes: WebhookEndpointUpdate = await requestOf(options);
        if (Object.keys(changes).length === 0) throw new UsageError("Name what to change: see --help.");
        output.one(await client.webhookEndpoints.update(id, changes));
      }),
    );
  endpoints
    .command("delete <endpoint>")
    .description("Delete an endpoint. Its pending deliveries fail.")
    .action(action(async ({ client }, id: string) => client.webhookEndpoints.delete(id)));
  endpoints
    .command("rotate-secret <endpoint>")
    .description("Make a new signing secret, which is shown only now.")
    .option("--overlap-hours <n>", "how long the old one signs too; default: 24", Number)
    .action(
      action(async ({ client, output }, id: string, options: { overlapHours?: number }) =>
        output.one(await client.webhookEndpoints.rotateSecret(id, options)),
      ),
    );
  endpoints
    .command("ping <endpoint>")
    .description("Send a signed webhook.ping, or a sample of a type.")
    .option("--type <type>")
    .action(
      action(async ({ client, output }, id: string, options: { type?: EventType }) =>
        output.one(await client.webhookEndpoints.ping(id, options)),
      ),
    );
  endpoints
    .command("resume <endpoint>")
    .description("End a pause, and send what waits.")
    .action(
      action(async ({ client, output }, id: string) => output.one(await client.webhookEndpoints.resume(id))),
    );
  endpoints
    .command("recover <endpoint>")
    .description("Send what failed since a time again.")
    .requiredOption("--since <time>", "such as 2026-11-28T09:00:00Z, or 90m, 2h, 1d")
    .action(
      action(async ({ client, output }, id: string, { since }: { since: string }) =>
        output.one(await client.webhookEndpoints.recover(id, { since: timeOf(since) })),
      ),
    );

  const deliveries = program.command("deliveries").description("The log of what was sent to endpoints.");
  deliveries
    .command("list")
    .description("List deliveries, newest first.")
    .option("--endpoint <id>")
    .option("--order <id>")
    .option("--event <id>")
    .option("--status <status>", "pending, succeeded or failed")
    .option("--type <type>", "event type")
    .option("--since <time>", "such as 2026-11-28T09:00:00Z, or 90m, 2h, 1d", timeOf)
    .option("--failing", "only deliveries with a failed attempt")
    .option("--limit <n>", "how many at most", count, LIMIT_DEFAULT)
    .addHelpText("after", "\nExample:\n  partner-orders deliveries list --status failed --since 2h")
    .action(
      action(async ({ client, output }, options: DeliveryOptions) => {
        const { endpoint, order, event, status, type, since, failing, limit } = options;
        const query = {
          ...(endpoint && { endpointId: endpoint }),
          ...(order && { orderId: order }),
          ...(event && { eventId: event }),
          ...(status && { status }),
          ...(type && { eventType: type }),
          ...(since && { since }),
          ...(failing && { hasFailedAttempts: true }),
          limit: Math.min(limit, 100),
        };
        await printList(output, client.deliveries.list(query), limit, DELIVERY_COLUMNS);
      }),
    );
  deliveries
    .command("show <delivery>")
    .description("Show a delivery with the request and the response of each attempt.")
    .action(action(async ({ client, output }, id: string) => output.one(await client.deliveries.get(id))));
  deliveries
    .command("redeliver <delivery>")
    .description("Send the event again.")
    .action(
      action(async ({ client, output }, id: string) => output.one(await client.deliveries.redeliver(id))),
    );
}

type DeliveryOptions = {
  endpoint?: string;
  order?: string;
  event?: string;
  status?: DeliveryStatus;
  type?: EventType;
  since?: string;
  failing?: boolean;
  limit: number;
};
