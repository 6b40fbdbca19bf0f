import type { Database } from "../../src/platform/database/database.ts";
import type { Partner } from "../site.ts";

// Small enough for the memory of one statement.
const CHUNK = 50_000;
/** The overview shows no more days. */
const DAYS = 90;

/**
 * Stores orders of several partners as they are after three months: evenly over the days, of 40 first and 400 last names, most
 * of them completed, the newest not yet shipped, some on hold.
 */
export async function storeOrders(
  db: Database,
  partners: readonly Partner[],
  count: number,
  progress: (done: number) => void,
): Promise<void> {
  await db.withClient(async (client) => {
    // Only this session skips the triggers of foreign keys, which would look up a million existing parents.
    await client.query("set session_replication_role = replica; set statement_timeout = 0");
    for (let done = 0; done < count; done += CHUNK) {
      await client.query(CHUNK_SQL, [
        partners.map(({ connection }) => connection.merchantId),
        partners.map(({ connection }) => connection.connectionId),
        partners.map(({ productIds }) => productIds[0]),
        done,
        Math.min(CHUNK, count - done),
        count,
        DAYS,
      ]);
      progress(Math.min(count, done + CHUNK));
    }
    await client.query("reset session_replication_role; reset statement_timeout");
  });
}

const CHUNK_SQL = `
  with numbers as materialized (
    select n, 1 + n % cardinality($1::uuid[]) as partner,
           interval '1 day' * $7::integer * (n - $6::integer)::double precision / $6::integer as age,
           1 - n::double precision / $6::integer as ago
    from generate_series($4::integer + 1, $4::integer + $5::integer) n
  ), ids as materialized (
    select n, partner, ago, now() + age as created_at, uuidv7(age) as order_id, uuidv7(age) as line_id
    from numbers
  ), placed as (
    insert into orders (
      merchant_id, connection_id, id, test_mode, status, hold_reasons, goods_minor, currency, country_code, created_at, updated_at,
      changed_at, acceptance_due_at, last_sequence, routed_at)
    select ($1::uuid[])[partner], ($2::uuid[])[partner], order_id, false,
           case when ago > 0.02 then 'COMPLETED' when ago > 0.0001 then 'ACCEPTED' else 'NEW' end,
           case when ago between 0.0001 and 0.02 and n % 50 = 0 then '{out_of_stock}'::text[] else '{}' end,
           4500, 'EUR', 'GB', created_at, created_at, created_at, created_at + interval '2 hours', 1,
           case when ago > 0.0001 then created_at end
    from ids
  ), requested as (
    insert into order_requests (
      merchant_id, order_id, connection_id, test_mode, external_order_id, idempotency_key, request_hash, first_name, last_name,
      address1, city, zip, words)
    select ($1::uuid[])[partner], order_id, ($2::uuid[])[partner], false, 'shop-' || n, 'shop-' || n, decode(repeat('ab', 32), 'hex'),
           'First' || n % 40, 'Lastname' || n % 400, '12 St James Square', 'London', 'SW1Y 4JH',
           'first' || n % 40 || ' lastname' || n % 400 || ' london sw1y 4jh sw1y4jh ' || n
    from ids
  )
  insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  select ($1::uuid[])[partner], ($2::uuid[])[partner], order_id, line_id, ($3::uuid[])[partner], 3, 1500 from ids`;
