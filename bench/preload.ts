import type { ConnectionKey } from "../src/platform/connection-key.ts";
import type { Database } from "../src/platform/database/database.ts";

// Small enough for the time limit that every statement has.
const CHUNK = 50_000;

/** The state of the stored orders: accepted and routed long ago, or past their deadline and not accepted yet. */
const STATES = {
  accepted: { status: "ACCEPTED", dueIn: "2 hours", routed: true },
  due: { status: "NEW", dueIn: "1 microsecond", routed: false },
};

/** Fills a database with orders as creation stores them, two lines and an event each. */
export async function preloadOrders(
  db: Database,
  {
    connection,
    productIds,
    state = "accepted",
  }: { connection: ConnectionKey; productIds: readonly string[]; state?: keyof typeof STATES },
  count: number,
  progress: (done: number) => void,
): Promise<void> {
  await db.withClient(async (client) => {
    // Only this session skips the triggers of foreign keys, which would look up a million existing parents.
    await client.query("set session_replication_role = replica; set statement_timeout = 0");
    for (let done = 0; done < count; done += CHUNK) {
      await client.query(CHUNK_SQL, [
        connection.connectionId,
        productIds[0],
        productIds[1],
        Math.min(CHUNK, count - done),
        STATES[state].status,
        STATES[state].dueIn,
        STATES[state].routed,
        connection.merchantId,
      ]);
      progress(Math.min(count, done + CHUNK));
    }
    await client.query("reset session_replication_role; reset statement_timeout");
  });
}

const CHUNK_SQL = `
  with ids as materialized (
    select uuidv7() as order_id, uuidv7() as line_1, uuidv7() as line_2, uuidv7() as event_id, now() as created_at
    from generate_series(1, $4::integer)
  ), placed as (
    insert into orders (
      merchant_id, connection_id, id, test_mode, status, hold_reasons, goods_minor, currency, country_code, created_at, updated_at,
      changed_at, acceptance_due_at, last_sequence, routed_at)
    select $8::uuid, $1::uuid, order_id, false, $5, '{}', 4500, 'EUR', 'GB', created_at, created_at,
           created_at, created_at + $6::interval, 1, case when $7 then created_at end
    from ids
  ), requested as (
    insert into order_requests (
      merchant_id, order_id, connection_id, test_mode, external_order_id, idempotency_key, request_hash, first_name, last_name,
      address1, city, zip, words)
    select $8::uuid, order_id, $1::uuid, false, 'stored-' || order_id, 'stored-' || order_id, decode(repeat('ab', 32), 'hex'),
           'Ada', 'Lovelace', '12 St James Square', 'London', 'SW1Y 4JH', 'ada lovelace london sw1y 4jh sw1y4jh'
    from ids
  ), placed_lines as (
    insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
    select $8::uuid, $1::uuid, order_id, line_1, $2::uuid, 1, 1500 from ids
    union all
    select $8::uuid, $1::uuid, order_id, line_2, $3::uuid, 2, 1500 from ids
  )
  insert into events (merchant_id, connection_id, id, type, order_id, sequence, body)
  select $8::uuid, $1::uuid, event_id, 'order.created', order_id, 1, repeat('x', 1024) from ids`;
