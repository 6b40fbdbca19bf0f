import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { countTestOrders } from "../lists/count-test-orders-sql.ts";

type Requested = ConnectionKey & { readonly request: { readonly testMode: boolean } };

/**
 * Finds the test orders of a group for which their connections have no room, with the maximum of each. Nothing is locked:
 * groups that are placed at the same time may exceed the limit by as many orders as they have. Reads nothing for a group
 * without test orders.
 */
export async function findBeyondLimit<Item extends Requested>(
  db: Queryable,
  items: readonly Item[],
): Promise<ReadonlyMap<Item, number>> {
  const beyond = new Map<Item, number>();
  const tests = Map.groupBy(
    items.filter(({ request }) => request.testMode),
    ({ connectionId }) => connectionId,
  );
  if (tests.size === 0) return beyond;
  const connections = [...tests.values()].flatMap((group) => group.slice(0, 1));
  const overridesOf = await readLimitOverrides(db, connections);
  const maximumFor = (connection: ConnectionKey) => maximumOf(overridesOf(connection), "testOrders");
  const countOf = await countTestOrders(db, connections, Math.max(...connections.map(maximumFor)));
  for (const group of tests.values()) {
    for (const [index, item] of group.entries()) {
      const maximum = maximumFor(item);
      if (countOf(item) + index >= maximum) beyond.set(item, maximum);
    }
  }
  return beyond;
}
