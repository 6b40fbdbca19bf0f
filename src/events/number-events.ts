import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import {
  listUnnumberedEvents,
  lockFeed,
  numberEvents,
  takePositions,
  type UnnumberedEvent,
} from "./positions-sql.ts";

/** Events that get their positions in one transaction. */
export const NUMBERED_TOGETHER_MAX = 1_000;

type NumberContext = Pick<Context, "db" | "clock">;

/**
 * Gives the oldest events of a connection that have none a position at the end of its feed (decision 0027). Only events
 * whose transactions have ended are seen, and a position is never given again, so events are only ever added at the end.
 * Readers of the same connection wait for each other; no other connection does.
 */
export async function numberNextEvents(
  { db, clock }: NumberContext,
  connection: ConnectionKey,
  oldestId: string,
): Promise<void> {
  await inTransaction({ db, clock }, async (tx) => {
    await lockFeed(tx, connection);
    // A statement that begins after the lock was taken sees what the reader before has numbered.
    const unnumbered = await listUnnumberedEvents(tx, connection, oldestId, NUMBERED_TOGETHER_MAX);
    if (unnumbered.length === 0) return; // Another reader has numbered them.
    const before = await takePositions(tx, connection, unnumbered.length, clock.now());
    await numberEvents(tx, connection, inFeedOrder(unnumbered), before);
  });
}

/**
 * The ids of events by age, except that the events of an order are in sequence: they share the positions that they have by
 * age. The clocks of processes differ, so the later event of an order may have the earlier id.
 */
export function inFeedOrder(events: readonly UnnumberedEvent[]): string[] {
  const byId = [...events].sort((one, other) => compare(one.id, other.id));
  const ofOrders = Map.groupBy(byId, ({ order_id }) => order_id);
  for (const [orderId, group] of ofOrders)
    if (orderId !== null)
      group.sort((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0) || compare(one.id, other.id));
  const taken = new Map<string | null, number>();
  return byId.map((event) => {
    const at = taken.get(event.order_id) ?? 0;
    taken.set(event.order_id, at + 1);
    return (ofOrders.get(event.order_id)?.[at] ?? event).id;
  });
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
