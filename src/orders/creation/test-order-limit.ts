import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { countTestOrders } from "../lists/count-test-orders-sql.ts";

type Requested = ConnectionKey & { readonly request: { readonly testMode: boolean } };

/** What keeps a test order from being placed now. */
export type TestOrderLimit = {
  readonly maximum: number;
  /** Whether the stored test orders reach it. If not, those that come first in the group would, unless they are not placed. */
  readonly isReached: boolean;
};

/**
 * Finds the test orders of a group for which their connections have no room. Nothing is locked: groups that are placed at the same
 * time may exceed the limit by as many orders as they have. Reads nothing for a group without test orders.
 */
export async function findBeyondLimit<Item extends Requested>(
  db: Queryable,
  items: readonly Item[],
): Promise<ReadonlyMap<Item, TestOrderLimit>> {
  const beyond = new Map<Item, TestOrderLimit>();
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
      const count = countOf(item);
      if (count + index >= maximum) beyond.set(item, { maximum, isReached: count >= maximum });
    }
  }
  return beyond;
}
