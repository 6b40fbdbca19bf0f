import type { Command } from "commander";
import type { IdentifiedOrder, Order, OrderSearch, Product } from "../../../sdk/src/index.ts";
import type { Columns } from "../output.ts";
import { action, count, LIMIT_DEFAULT, printList, readJson, several } from "../session.ts";

const ORDER_COLUMNS: Columns<Order> = {
  ID: ({ id }) => id,
  "EXTERNAL ID": ({ externalOrderId }) => externalOrderId,
  STATUS: ({ status }) => status,
  HOLD: ({ onHoldReasons }) => onHoldReasons,
  UPDATED: ({ updatedAt }) => updatedAt,
};

const PRODUCT_COLUMNS: Columns<Product> = {
  ID: ({ id }) => id,
  SKU: ({ sku }) => sku,
  STATUS: ({ status }) => status,
  NAME: ({ name }) => name,
};

type SearchOptions = {
  status?: NonNullable<OrderSearch["status"]>;
  externalId?: string[];
  updatedSince?: string;
  createdSince?: string;
  createdUntil?: string;
  test?: boolean;
  live?: boolean;
  onHold?: boolean;
  limit: number;
};

export function addOrderCommands(program: Command): void {
  const orders = program.command("orders").description("Place, read, search and cancel orders.");
  orders
    .command("create")
    .description("Place an order: the JSON of POST /v1/orders. Repeating it with the same id is safe.")
    .requiredOption("--file <file>", "file with the order; - is standard input")
    .option("--test", "a test order, whatever the file says")
    .option("--idempotency-key <key>", "identifies the creation, if the order has no externalOrderId")
    .addHelpText("after", "\nExample:\n  partner-orders orders create --test --file order.json")
    .action(
      action(
        async ({ client, output }, options: { file: string; test?: boolean; idempotencyKey?: string }) => {
          const order = await readJson<IdentifiedOrder>(options.file);
          const request = options.test ? { ...order, testMode: true } : order;
          const own = options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey };
          output.one(await client.orders.create(request, own));
        },
      ),
    );
  orders
    .command("get <order>")
    .description("Show an order: its id, or your externalOrderId.")
    .action(action(async ({ client, output }, id: string) => output.one(await client.orders.get(id))));
  orders
    .command("search")
    .description("Find orders, newest first.")
    .option("--status <status>", "NEW, PROCESSING, …; several after commas", several)
    .option("--external-id <id>", "your externalOrderId; several after commas", several)
    .option("--updated-since <time>", "such as 2026-11-28T09:00:00Z")
    .option("--created-since <time>")
    .option("--created-until <time>")
    .option("--on-hold", "only orders on hold")
    .option("--test", "only test orders")
    .option("--live", "only real orders")
    .option("--limit <n>", "how many at most", count, LIMIT_DEFAULT)
    .addHelpText("after", "\nExample:\n  partner-orders orders search --status NEW,ACCEPTED --live --json")
    .action(
      action(async ({ client, output }, { limit, externalId, test, live, ...options }: SearchOptions) => {
        const search: OrderSearch = {
          ...options,
          ...(externalId && { externalOrderIds: externalId }),
          ...(test !== live && { testMode: test === true }),
          limit: Math.min(limit, 100),
        };
        await printList(output, client.orders.search(search), limit, ORDER_COLUMNS);
      }),
    );
  orders
    .command("cancel <order>")
    .description("Cancel an order until its cancelableUntil.")
    .action(action(async ({ client, output }, id: string) => output.one(await client.orders.cancel(id))));

  const products = program.command("products").description("Products that you can order.");
  products
    .command("list")
    .description("List products, oldest first.")
    .option("--sku <sku>")
    .option("--limit <n>", "how many at most", count, LIMIT_DEFAULT)
    .action(
      action(async ({ client, output }, { limit, ...query }: { limit: number; sku?: string }) =>
        printList(
          output,
          client.products.list({ ...query, limit: Math.min(limit, 100) }),
          limit,
          PRODUCT_COLUMNS,
        ),
      ),
    );
}
