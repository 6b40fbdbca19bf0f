-- Stores new orders with their lines, changes, first events with deliveries, and charges: one call, one round trip, one transaction.
-- Called by src/orders/creation, which has decided everything: a function only stores. On Citus the call runs as a whole on the
-- node of its merchant, so it needs no other node and no two-phase commit
-- (docs/design/creating-orders.md, "One function stores a group").
--
-- of_merchant: the merchant of all orders; null if there are several, which Citus does not permit.
-- new_orders: values of orders and order_requests as JSON. event_bodies: one for each order in their order, separated by line breaks, which JSON text
-- does not have, so that no text is escaped twice. line_…: the lines of all orders.
-- known_…: the products that the caller has not read for these orders, as in changed_products.
--
-- Returns the orders that were stored. Left out are orders of a product that is no longer as it is known, and orders whose key
-- or external id is taken: the unique constraints decide, also between processes
-- (docs/design/creating-orders.md, "Constraints decide").

drop type if exists new_order cascade;

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
  acceptance_due_at timestamptz,
  expires_at        timestamptz,
  -- The goods are charged now.
  charge            boolean,
  event_id          uuid,
  event_type        text,
  -- What it is found by.
  words             text,
  -- Counts the orders of a call from 1.
  number            integer
);

create or replace function place_orders(
  of_merchant       uuid,
  new_orders        json,
  event_bodies      text,
  line_merchants    uuid[],
  line_connections  uuid[],
  line_orders       uuid[],
  line_ids          uuid[],
  line_products     uuid[],
  line_quantities   integer[],
  line_prices       bigint[],
  placed_at         timestamptz,
  known_merchants   uuid[],
  known_connections uuid[],
  known_products    uuid[],
  known_terms       text[]
) returns table (order_id uuid, has_deliveries boolean)
language plpgsql
-- Changed below, and restored when the call ends.
set plan_cache_mode = auto
as $function$
#variable_conflict use_column
declare
  placed    new_order[] := array(select o from json_populate_recordset(null::new_order, new_orders) o);
  bodies    text[] := string_to_array(event_bodies, E'\n');
  changed   bigint[];
  stored    uuid[] := '{}';
  stored_id uuid;
  sending   uuid[];
begin
  -- To plan each statement for the values of a call takes longer than what it plans. Citus finds the shard by the values.
  if of_merchant is null then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;

  if cardinality(known_products) > 0 then
    changed := array(
      select c.number
      from changed_products(of_merchant, known_merchants, known_connections, known_products, known_terms) c);
    if cardinality(changed) > 0 then
      placed := array(
        select p
        from unnest(placed) p
        where p.id not in (
          select l.order_id
          from unnest(line_connections, line_products, line_orders) as l (connection_id, product_id, order_id)
          join unnest(changed) n on known_connections[n] = l.connection_id and known_products[n] = l.product_id));
    end if;
  end if;

  -- In the order of the keys, so that two calls with the same keys wait for each other and do not deadlock.
  for stored_id in
    insert into order_requests (
      merchant_id, order_id, connection_id, test_mode, external_order_id, idempotency_key, request_hash, request_id,
      first_name, last_name, name, company, address1, address2, city, zip, state_code, phone, note, metadata, words)
    select merchant_id, id, connection_id, test_mode, external_order_id, idempotency_key, request_hash, request_id,
           first_name, last_name, name, company, address1, address2, city, zip, state_code, phone, note, metadata, words
    from unnest(placed)
    order by merchant_id, connection_id, idempotency_key
    on conflict do nothing
    returning order_id
  loop
    stored := stored || stored_id;
  end loop;
  if cardinality(stored) < cardinality(placed) then
    placed := array(select p from unnest(placed) p where p.id = any(stored));
  end if;
  if cardinality(stored) = 0 then
    return;
  end if;

  insert into orders (
    merchant_id, connection_id, id, test_mode, status, hold_reasons, goods_minor, currency, country_code, created_at,
    updated_at, changed_at, acceptance_due_at, expires_at, last_sequence)
  select p.merchant_id, p.connection_id, p.id, p.test_mode, p.status, '{}', p.goods_minor, p.currency, p.country_code, placed_at,
         placed_at, placed_at, p.acceptance_due_at, p.expires_at, 1
  from unnest(placed) p;

  insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  select l.merchant_id, l.connection_id, l.order_id, l.id, l.product_id, l.quantity, l.unit_price_minor
  from unnest(line_merchants, line_connections, line_orders, line_ids, line_products, line_quantities, line_prices)
    as l (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
  where l.order_id = any(stored);

  insert into due_payments (
    merchant_id, connection_id, order_id, entry_id, kind, attempt, amount_minor, request_id, created_at, due_at, attempt_count,
    recheck_requested)
  select p.merchant_id, p.connection_id, p.id, p.id, 'goods', 1, p.goods_minor, p.request_id, placed_at, placed_at, 0, false
  from unnest(placed) p
  where p.charge;

  -- The change has the id of the event: both tables are of the same time.
  insert into changes (merchant_id, id, connection_id, order_id, kinds, object_ids, events)
  select p.merchant_id, p.event_id, p.connection_id, p.id,
         case when p.charge then '{order,charge}'::text[] else '{order}' end,
         case when p.charge then array[p.id, p.id] else array[p.id] end, '{order.created}'
  from unnest(placed) p
  where not p.test_mode;

  sending := array(
    select published.connection_id
    from (
      select array_agg(p.merchant_id) as merchants, array_agg(p.connection_id) as connections, array_agg(p.event_id) as ids,
             array_agg(p.event_type) as types, array_agg(p.id) as orders, array_agg(1) as sequences,
             array_agg(bodies[p.number]) as bodies, array_agg(p.expires_at) as not_after
      from unnest(placed) p) as e
    cross join lateral publish_events(
      of_merchant, e.merchants, e.connections, e.ids, e.types, e.orders, e.sequences, e.bodies, e.not_after, placed_at)
      as published);

  return query
  select p.id, p.connection_id = any(sending)
  from unnest(placed) p;
end
$function$;

comment on type new_order is 'An order as place_orders receives it, with its first event.';
comment on function place_orders is 'Stores new orders with their lines, first events with deliveries, and charges. Returns those that were stored.';
