import { runPgbench } from "./processes.ts";
import type { Site } from "./site.ts";

type Inserting = {
  /** Orders of one statement. */
  readonly ordersEach: number;
  readonly clients: number;
  readonly seconds: number;
};

/** PostgreSQL alone stores the rows of orders. Returns statements per second. */
export function insertOrders(
  { databaseUrl, partner }: Site,
  { ordersEach, ...how }: Inserting,
): Promise<number> {
  const script = new URL("insert-orders.sql", import.meta.url).pathname;
  const [product_1 = "", product_2 = ""] = partner.productIds;
  const { merchantId, connectionId } = partner.connection;
  const variables = { merchant_id: merchantId, connection_id: connectionId, product_1, product_2 };
  return runPgbench(databaseUrl, script, { ...variables, orders: `${ordersEach}` }, how);
}
