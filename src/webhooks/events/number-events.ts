import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Events that get their positions in one transaction. */
export const NUMBERED_TOGETHER_MAX = 1_000;

type NumberContext = Pick<Context, "db" | "clock">;

/**
 * Gives the oldest events of a connection that have none a position at the end of its feed
 * (docs/design/event-feed.md, "Positions when read"). Only events whose transactions have ended are seen, and a position is
 * never given again, so events are only ever added at the end. Readers of the same connection wait for each other; no other
 * connection does.
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

/** An event without its content: what it is about, and who may see that. */
export type NewEvent = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  /** Null if the event is not about an order. */
  readonly orderId: string | null;
  readonly testMode: boolean;
};

/** Events of one merchant that are read, at most. */
export const NEW_EVENTS_OF_MERCHANT_MAX = 50;
/** Events that are read, at most. */
export const NEW_EVENTS_MAX = 500;

/**
 * The newest events after an id, of all merchants or of some: a look-up by the primary key for each of them. The id excludes
 * the partitions of earlier days.
 */
export async function listNewEvents(
  db: Queryable,
  afterId: string,
  merchantIds: readonly string[] | null,
): Promise<NewEvent[]> {
  return db.query<NewEvent>({
    name: "list-new-events",
    text: `
      select m.id as "merchantId", found.connection_id as "connectionId", found.id, found.order_id as "orderId",
             found.test_mode as "testMode"
      from merchants m
      cross join lateral (
        select e.connection_id, e.id, e.order_id, e.not_after is not null as test_mode
        from events e
        where e.merchant_id = m.id and e.connection_id <> m.id and e.id > $1 -- A merchant's own events follow those.
        order by e.id desc
        limit $3) as found
      where $2::uuid[] is null or m.id = any($2)
      limit $4`,
    values: [afterId, merchantIds, NEW_EVENTS_OF_MERCHANT_MAX, NEW_EVENTS_MAX],
  });
}

/** `position` of an event as far as which the feed has not been read yet: the largest bigint. */
export const NO_POSITION = "9223372036854775807";

/** An event without a position. `sequence` is null for events that are not about an order. */
type UnnumberedEvent = {
  readonly id: string;
  readonly order_id: string | null;
  readonly sequence: number | null;
};

/** Locks the feed of the connection until the end of the transaction. */
export async function lockFeed(tx: Queryable, { merchantId, connectionId }: ConnectionKey): Promise<void> {
  await tx.query({
    name: "lock-event-feed",
    text: `
      insert into event_feeds (merchant_id, connection_id, last_position)
      values ($1, $2, 0)
      on conflict (merchant_id, connection_id) do update
        set last_position = event_feeds.last_position`,
    values: [merchantId, connectionId],
  });
}

/**
 * Takes `count` positions of a locked feed. Returns the position before the first one. They are later than all that were
 * taken before, and than the time in microseconds.
 */
async function takePositions(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  count: number,
  now: Date,
): Promise<bigint> {
  const [row] = await tx.query<{ last_position: string }>({
    name: "take-feed-positions",
    text: `
      update event_feeds f
      set last_position = greatest(f.last_position, $3::bigint) + $4::bigint
      where f.merchant_id = $1 and f.connection_id = $2
      returning f.last_position`,
    values: [merchantId, connectionId, String(BigInt(now.getTime()) * 1_000n), count],
  });
  if (row === undefined) throw new Error("The feed was not locked.");
  return BigInt(row.last_position) - BigInt(count);
}

/**
 * The oldest events of the connection without a position, by id, at most `limit`. And earlier events of the same orders
 * that have later ids, because the clocks of the processes differ.
 */
async function listUnnumberedEvents(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  oldestId: string,
  limit: number,
): Promise<UnnumberedEvent[]> {
  return tx.query<UnnumberedEvent>({
    name: "list-unnumbered-events",
    text: `
      with oldest as materialized (
        select e.id, e.order_id, e.sequence
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.position = 9223372036854775807 and e.id >= $3
        order by e.id
        limit $4
      ), ends as materialized (
        select order_id, max(sequence) as sequence
        from oldest
        where order_id is not null and (select count(*) from oldest) = $4
        group by order_id
      )
      select id, order_id, sequence
      from oldest
      union all
      select e.id, e.order_id, e.sequence
      from ends
      join events e on e.merchant_id = $1 and e.connection_id = $2 and e.order_id = ends.order_id and e.sequence <= ends.sequence
        and e.position = 9223372036854775807
        and e.id > (select o.id from oldest o order by o.id desc limit 1)`,
    values: [merchantId, connectionId, oldestId, limit],
  });
}

/** Gives the events their positions. @param ids in the order of the feed */
async function numberEvents(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  ids: readonly string[],
  before: bigint,
): Promise<void> {
  const sorted = [...ids].sort();
  await tx.query({
    name: "number-events",
    // The first and the last id say which partitions need not be looked at.
    text: `
      update events e
      set position = $4::bigint + numbered.number
      from unnest($3::uuid[]) with ordinality as numbered (id, number)
      where e.merchant_id = $1 and e.connection_id = $2 and e.id = numbered.id and e.id >= $5 and e.id <= $6`,
    values: [merchantId, connectionId, ids, before.toString(), sorted[0], sorted.at(-1)],
  });
}
