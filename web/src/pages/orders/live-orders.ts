import type { OrderSummary, paths } from "../../api/schema.d.ts";
import type { LiveRule } from "../../api/update.ts";

type OrderFilters = NonNullable<paths["/api/orders"]["get"]["parameters"]["query"]>;

/** Filters that an update can be compared with, because it names the order, its connection and its merchant. */
const KNOWN: ReadonlySet<string> = new Set(["testMode", "connectionId", "merchantId"]);

/**
 * What an update means for the list of orders. Each reading of a list of orders is recorded in the audit log, so it reads only
 * if an order that it shows has changed, or if its filters decide what is new. Otherwise it knows new orders by their ids,
 * which sort by time. A further page, which begins at a cursor, shows no new orders.
 */
export function liveOrders(filters: OrderFilters): LiveRule<OrderSummary> {
  const isPlain = Object.keys(filters).every((name) => KNOWN.has(name));
  const prefix = filters.testMode ? "test_" : "ord_";
  const effectOf: LiveRule<OrderSummary>["effectOf"] = ({ orders }, rows) => {
    const listed = orders.filter(
      ({ id, connectionId, merchantId }) =>
        id.startsWith(prefix) &&
        (filters.connectionId === undefined || filters.connectionId === connectionId) &&
        (filters.merchantId === undefined || filters.merchantId === merchantId),
    );
    const shown = new Set(rows.map(({ id }) => id));
    const newest = rows[0]?.id ?? "";
    const isChanged = listed.some(({ id }) => shown.has(id));
    return isPlain
      ? { isChanged, newKeys: listed.filter(({ id }) => id > newest).map(({ id }) => id) }
      : { isChanged: isChanged || (filters.cursor === undefined && listed.length > 0), newKeys: [] };
  };
  return { effectOf };
}
