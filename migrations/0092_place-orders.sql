-- Stores new orders with all their rows: one call, one round trip. On Citus the call runs as a whole on the node of its
-- merchant, so it needs no other node and no two-phase commit. A single statement of chained inserts would not: Citus runs
-- its parts step by step over all nodes (decision 0169).

create type new_order as (
  merchant_id       uuid,
  connection_id     uuid,
  id                uuid,
  test_mode         boolean,
  external_order_id text,
  idempotency_key   text,
  request_hash      bytea,
  request_id        text,
  status            text,
  goods_minor       bigint,
  currency          text,
  first_name        text,
  last_name         text,
  name              text,
  company           text,
  address1          text,
  address2          text,
  city              text,
  zip               text,
  state_code        text,
  country_code      text,
  phone             text,
  note              text,
  metadata          json,
  created_at        timestamptz,
  acceptance_due_at timestamptz,
  expires_at        timestamptz,
  event_id          uuid,
  event_type        text,
  -- Counts the orders of a call from 1.
  number            integer
);

create type order_delivery as (
  merchant_id   uuid,
  connection_id uuid,
  id            uuid,
  endpoint_id   uuid,
  event_id      uuid,
  event_type    text,
  order_id      uuid,
  not_after     timestamptz,
  -- Of an endpoint that is not paused.
  is_due        boolean
);

-- of_merchant: the merchant of all orders; null if there are several, which Citus does not permit.
-- event_bodies: one for each order in their order, separated by line breaks, which JSON text does not have.
-- line_…: the lines of all orders.
-- Returns the orders that were stored. An order whose key or external id is taken is left out: the unique constraints decide.
-- Rows are inserted in the order of their keys, so that two calls with the same keys wait for each other and do not deadlock.
create function place_orders(
  of_merchant      uuid,
  new_orders       json,
  event_bodies     text,
  line_merchants   uuid[],
  line_connections uuid[],
  line_orders      uuid[],
  line_ids         uuid[],
  line_products    uuid[],
  line_quantities  integer[],
  line_prices      bigint[],
  placed_at        timestamptz
) returns table (order_id uuid, merchant_id uuid, connection_id uuid, has_deliveries boolean)
language plpgsql as $function$
#variable_conflict use_column
declare
  placed      new_order[];
  bodies      text[] := string_to_array(event_bodies, E'\n');
  count       integer;
  is_complete boolean;
  added       order_delivery[];
begin
  select array_agg(o) into placed from json_populate_recordset(null::new_order, new_orders) o;

  insert into orders (
    merchant_id, connection_id, id, test_mode, external_order_id, idempotency_key, request_hash, request_id, status,
    hold_reasons, goods_minor, currency, first_name, last_name, name, company, address1, address2,
    city, zip, state_code, country_code, phone, note, metadata,
    created_at, updated_at, acceptance_due_at, expires_at, last_sequence)
  select merchant_id, connection_id, id, test_mode, external_order_id, idempotency_key, request_hash, request_id, status,
         '{}', goods_minor, currency, first_name, last_name, name, company, address1, address2,
         city, zip, state_code, country_code, phone, note, metadata,
         created_at, created_at, acceptance_due_at, expires_at, 1
  from unnest(placed)
  order by merchant_id, connection_id, idempotency_key
  on conflict do nothing;
  get diagnostics count = row_count;
  -- Citus counts rows that were left out, too.
  is_complete := of_merchant is null and count = cardinality(placed);
  if not is_complete then
    select array_agg(p) into placed
    from unnest(placed) p
    where exists (
      select from orders o
      where o.merchant_id = p.merchant_id and o.id = p.id and (of_merchant is null or o.merchant_id = of_merchant));
    if placed is null then
      return;
    end if;
  end if;

  insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  select l.merchant_id, l.connection_id, l.order_id, l.id, l.product_id, l.quantity, l.unit_price_minor
  from unnest(line_merchants, line_connections, line_orders, line_ids, line_products, line_quantities, line_prices)
    as l (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  where is_complete or l.order_id in (select p.id from unnest(placed) p);

  insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
  select p.merchant_id, p.connection_id, p.event_id, p.event_type, p.id, 1, bodies[p.number], p.expires_at
  from unnest(placed) p;

  -- A real order that needs no review is charged for its goods at once (decision 0090).
  insert into ledger_entries (merchant_id, order_id, id, kind, attempt, amount_minor, request_id, created_at)
  select p.merchant_id, p.id, p.id, 'goods', 1, p.goods_minor, p.request_id, p.created_at
  from unnest(placed) p
  where not p.test_mode and p.status <> 'PROCESSING' and p.goods_minor > 0;

  insert into due_payments (merchant_id, connection_id, order_id, entry_id, due_at, attempt_count, recheck_requested)
  select p.merchant_id, p.connection_id, p.id, p.id, p.created_at, 0, false
  from unnest(placed) p
  where not p.test_mode and p.status <> 'PROCESSING' and p.goods_minor > 0;

  -- The endpoints are read once, so that deliveries and heads see the same ones. The id of a delivery is the id of its event
  -- with the number of the endpoint in the last 32 bits (decision 0028).
  select array_agg(row(
    w.merchant_id, w.connection_id, (left(p.event_id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id,
    p.event_id, p.event_type, p.id, p.expires_at, w.status = 'active')::order_delivery)
  into added
  from unnest(placed) p
  join webhook_endpoints w on w.merchant_id = p.merchant_id and w.connection_id = p.connection_id
  where w.status <> 'deleted' and p.event_type = any(w.event_types)
    and (w.mode = 'live' or p.expires_at is not null) -- Only events of test orders expire (decision 0108).
    and (of_merchant is null or w.merchant_id = of_merchant);

  if added is not null then
    insert into deliveries (
      merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, not_after, status)
    select merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, 1, order_id, not_after, 'pending'
    from unnest(added);

    -- The streams are new: each begins with this delivery, and no other is pending (decision 0033).
    insert into due_deliveries (
      merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
      not_after, is_followed)
    select merchant_id, connection_id, endpoint_id, order_id, id, event_id, 'schedule', 0, placed_at, not_after, false
    from unnest(added)
    where is_due;
  end if;

  return query
  select p.id, p.merchant_id, p.connection_id,
         p.connection_id in (select a.connection_id from unnest(added) a where a.is_due)
  from unnest(placed) p;
end
$function$;

comment on type new_order is 'An order as place_orders receives it, with its first event.';
comment on type order_delivery is 'A delivery of the first event of an order, within place_orders.';
comment on function place_orders is 'Stores new orders with their lines, charges, first events and deliveries. Returns those that were stored.';
