import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

/** `position` of an event as far as which the feed has not been read yet: the largest bigint. */
export const NO_POSITION = "9223372036854775807";

/** An event without a position. `sequence` is null for events that are not about an order. */
export type UnnumberedEvent = {
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
export async function takePositions(
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
export async function listUnnumberedEvents(
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
        where e.merchant_id = $1 and e.connection_id = $2 and e.position = ${NO_POSITION} and e.id >= $3
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
      join events e on e.merchant_id = $1 and e.order_id = ends.order_id and e.sequence <= ends.sequence
        and e.position = ${NO_POSITION}
        and e.id > (select o.id from oldest o order by o.id desc limit 1)`,
    values: [merchantId, connectionId, oldestId, limit],
  });
}

/** Gives the events their positions. @param ids in the order of the feed */
export async function numberEvents(
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
