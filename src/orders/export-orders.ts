import { listConnections, readConnection } from "../connections/connections-sql.ts";
import { readMerchant } from "../connections/merchants-sql.ts";
import { START } from "../http/cursor.ts";
import { uuidAt } from "../ids.ts";
import type { Service } from "../service.ts";
import { type ExportLine, listExportedLines, listOrderIds } from "./export-sql.ts";
import { asOf } from "./lifecycle.ts";
import type { Order, OrderStatus } from "./order.ts";
import { readOrders } from "./orders-sql.ts";

/** What an export is narrowed to; null does not narrow. Times are of creation. */
export type ExportFilter = {
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  readonly status: OrderStatus | null;
};

/** An order with what the merchant is charged for its lines; `lines` in the order of `order.lines`. */
export type ExportedOrder = { readonly merchantId: string; readonly order: Order; readonly lines: readonly ExportLine[] };

/** Orders read at a time; memory holds no more of them. */
const PAGE_SIZE = 500;
const CONNECTIONS_PAGE_SIZE = 100;
/** An id is made a little before or after the moment that its order is said to be created at. */
const IDS_APART_MAX_MS = 3_600_000;

/**
 * Real orders as they stand while they are read, connection by connection, oldest first in each. Orders that are
 * created meanwhile may be missing; none comes twice.
 */
export async function* exportOrders(service: Service, filter: ExportFilter): AsyncGenerator<ExportedOrder> {
  for await (const { id, merchantId } of connectionsOf(service, filter))
    for await (const { order, lines } of ordersOf(service, id, filter)) yield { merchantId, order, lines };
}

/** Null: there is no such merchant or connection. */
export async function isExportable({ db }: Service, { merchantId, connectionId }: ExportFilter): Promise<boolean> {
  if (merchantId !== null && (await readMerchant(db, merchantId)) === null) return false;
  if (connectionId === null) return true;
  const connection = await readConnection(db, connectionId);
  return connection !== null && (merchantId === null || connection.merchantId === merchantId);
}
