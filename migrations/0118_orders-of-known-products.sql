-- Stores new orders like place_orders, without those of a product that is no longer as the caller knows it. So the service need not
-- read the products of each group (decision 0193).
--
-- known_…: the products that the caller has not read for these orders, each once. known_terms is what it has read of each before, as
-- one text, with which the rows are compared.
--
-- place_orders is for processes of the version before, during an upgrade.

create function place_orders_if_current(
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
) returns table (order_id uuid, merchant_id uuid, connection_id uuid, has_deliveries boolean)
language plpgsql
-- Where a subquery is ordered by a key, only the index of that key gives its rows.
set enable_sort = off
-- Changed below, and restored when the call ends.
set plan_cache_mode = auto
-- As in migration 0115.
set jit = off
as $function$
#variable_conflict use_column
declare
  changed     integer[];
  placed      new_order[];
  bodies      text[] := string_to_array(event_bodies, E'\n');
  count       integer;
  is_complete boolean;
  added       order_delivery[];
begin
  -- A plan for the values of a call is made again for each small group, which takes longer than what it plans. Citus needs it.
  if of_merchant is null then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;

  -- What a product and its connection are now, as the indexes of their keys say, whatever the statistics are.
  if cardinality(known_products) > 0 then
    select array_agg(k.number) into changed
    from unnest(known_merchants, known_connections, known_products, known_terms) with ordinality
      as k (merchant_id, connection_id, product_id, terms, number)
    left join lateral (
      select row(
        p.status, p.price_minor, c.currency,
        c.review_max_quantity, c.review_max_order_value_minor, c.review_countries)::text as terms
      from (
        select e.product_id, e.withdrawn_at
        from exposed_products e
        where e.merchant_id = k.merchant_id and e.connection_id = k.connection_id and e.product_id >= k.product_id
          and (of_merchant is null or e.merchant_id = of_merchant)
        order by e.product_id
        limit 1) as e
      cross join lateral (
        select p.id, p.status, p.price_minor
        from products p
        where p.merchant_id = k.merchant_id and p.id >= k.product_id
          and (of_merchant is null or p.merchant_id = of_merchant)
        order by p.id
        limit 1) as p
      cross join lateral (
        select c.id, c.currency, c.review_max_quantity, c.review_max_order_value_minor, c.review_countries
        from connections c
        where c.merchant_id = k.merchant_id and c.id >= k.connection_id
          and (of_merchant is null or c.merchant_id = of_merchant)
        order by c.id
        limit 1) as c
      where e.product_id = k.product_id and e.withdrawn_at is null and p.id = k.product_id and c.id = k.connection_id
    ) as now on true
    where now.terms is distinct from k.terms;
  end if;

  select array_agg(o) into placed from json_populate_recordset(null::new_order, new_orders) o;

  if changed is not null then
    select array_agg(p) into placed
    from unnest(placed) p
    where p.id not in (
      select l.order_id
      from unnest(line_connections, line_products, line_orders) as l (connection_id, product_id, order_id)
      join unnest(changed) n on known_connections[n] = l.connection_id and known_products[n] = l.product_id);
    if placed is null then
      return;
    end if;
  end if;

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
  is_complete := of_merchant is null and changed is null and count = cardinality(placed);
  if not is_complete then
    select array_agg(p) into placed
    from unnest(placed) p
    cross join lateral (
      select o.id
      from orders o
      where o.merchant_id = p.merchant_id and o.id >= p.id and (of_merchant is null or o.merchant_id = of_merchant)
      order by o.id
      limit 1) as first
    where first.id = p.id;
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
  cross join lateral (
    select e.merchant_id, e.connection_id, e.id, e.number, e.status, e.mode, e.event_types
    from webhook_endpoints e
    where e.merchant_id = p.merchant_id and e.connection_id = p.connection_id and e.status <> 'deleted'
      and (of_merchant is null or e.merchant_id = of_merchant)
    order by e.number) as w
  where p.event_type = any(w.event_types)
    and (w.mode = 'live' or p.expires_at is not null); -- Only events of test orders expire (decision 0108).

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

comment on function place_orders_if_current is 'Stores new orders with their lines, charges, first events and deliveries, without those of a product that is no longer as known_terms says. Returns those that were stored.';

create or replace function place_orders(
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
language sql as $function$
  select *
  from place_orders_if_current(
    of_merchant, new_orders, event_bodies, line_merchants, line_connections, line_orders, line_ids, line_products,
    line_quantities, line_prices, placed_at, '{}', '{}', '{}', '{}')
$function$;
