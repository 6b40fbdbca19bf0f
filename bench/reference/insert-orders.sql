-- The rows of some creations, with their charges, in one statement, from values that PostgreSQL makes itself, for pgbench.
-- Frozen with the tables of `schema.sql`, and never changed.
with ids as materialized (
  select uuidv7() as order_id, uuidv7() as line_1, uuidv7() as line_2, uuidv7() as event_id, now() as created_at
  from generate_series(1, :orders::integer)
), placed as (
  insert into orders (
    merchant_id, connection_id, id, test_mode, external_order_id, idempotency_key, request_hash, request_id, status,
    hold_reasons, goods_minor, currency, first_name, last_name, name, company, address1, address2, city, zip, state_code,
    country_code, phone, created_at, updated_at, acceptance_due_at, expires_at, last_sequence)
  select :merchant_id::uuid, :connection_id::uuid, order_id, false, 'pgbench-' || order_id, 'pgbench-' || order_id,
         decode(repeat('ab', 32), 'hex'), order_id::text, 'NEW', '{}', 4500, 'EUR', 'Ada', 'Lovelace', null, null,
         '12 St James Square', null, 'London', 'SW1Y 4JH', null, 'GB', null,
         created_at, created_at, created_at + interval '2 hours', null, 1
  from ids
), placed_lines as (
  insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  select :merchant_id::uuid, :connection_id::uuid, order_id, line_1, :product_1::uuid, 1, 1500 from ids
  union all
  select :merchant_id::uuid, :connection_id::uuid, order_id, line_2, :product_2::uuid, 2, 1500 from ids
), charged as (
  insert into ledger_entries (merchant_id, order_id, id, kind, attempt, amount_minor, request_id, created_at)
  select :merchant_id::uuid, order_id, order_id, 'goods', 1, 4500, order_id::text, created_at from ids
), payable as (
  insert into due_payments (merchant_id, connection_id, order_id, entry_id, due_at, attempt_count, recheck_requested)
  select :merchant_id::uuid, :connection_id::uuid, order_id, order_id, created_at, 0, false from ids
)
insert into events (merchant_id, connection_id, id, type, order_id, sequence, body)
select :merchant_id::uuid, :connection_id::uuid, event_id, 'order.created', order_id, 1, repeat('x', 1024) from ids;
