-- Functions that store new orders, events and moves of goods with all their rows: one call, one round trip. On Citus a call runs
-- as a whole on the node of its merchant, so it needs no other node and no two-phase commit. A single statement of chained
-- inserts would not: Citus runs its parts step by step over all nodes (decisions 0169 and 0171).

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
-- Before PostgreSQL 18, a sort counts as extremely expensive while sorting is disabled, so the server would compile the statement.
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


comment on type new_order is 'An order as place_orders_if_current receives it, with its first event.';
comment on type order_delivery is 'A delivery of the first event of an order, within place_orders_if_current.';

create type event_delivery as (
  merchant_id   uuid,
  connection_id uuid,
  id            uuid,
  endpoint_id   uuid,
  event_id      uuid,
  event_type    text,
  order_id      uuid,
  sequence      integer,
  stream_id     uuid,
  not_after     timestamptz,
  -- Of an endpoint that is not paused.
  is_due        boolean
);

-- of_merchant: the merchant of all events; null if there are several, which Citus does not permit.
-- event_…: the columns of all events.
-- Returns the connections that have something to send.
create function publish_events(
  of_merchant       uuid,
  event_merchants   uuid[],
  event_connections uuid[],
  event_ids         uuid[],
  event_types       text[],
  event_orders      uuid[],
  event_sequences   integer[],
  event_bodies      text[],
  events_not_after  timestamptz[],
  published_at      timestamptz
) returns table (connection_id uuid)
language plpgsql as $function$
#variable_conflict use_column
declare
  added event_delivery[];
begin
  -- The heads of the streams, in the order in which all transactions lock them. Each statement of the function sees what was
  -- committed before it. So those below see the deliveries that a transaction has added, for which this one has waited.
  perform due.stream_id
  from unnest(event_merchants, event_connections, event_ids, event_orders) as e (merchant_id, connection_id, id, order_id)
  join webhook_endpoints w on w.merchant_id = e.merchant_id and w.connection_id = e.connection_id
  join due_deliveries due on due.merchant_id = e.merchant_id and due.endpoint_id = w.id
    and due.stream_id = coalesce(e.order_id, e.id)
  where w.status <> 'deleted' and (of_merchant is null or e.merchant_id = of_merchant)
  order by due.merchant_id, due.endpoint_id, due.stream_id
  for update of due;

  insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
  select e.merchant_id, e.connection_id, e.id, e.type, e.order_id, e.sequence, e.body, e.not_after
  from unnest(event_merchants, event_connections, event_ids, event_types, event_orders, event_sequences, event_bodies,
              events_not_after)
    as e (merchant_id, connection_id, id, type, order_id, sequence, body, not_after);

  -- The endpoints are read once, so that deliveries and heads see the same ones. The id of a delivery is the id of its event
  -- with the number of the endpoint in the last 32 bits (decision 0028).
  select array_agg(row(
    w.merchant_id, w.connection_id, (left(e.id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id,
    e.id, e.type, e.order_id, e.sequence, coalesce(e.order_id, e.id), e.not_after, w.status = 'active')::event_delivery)
  into added
  from unnest(event_merchants, event_connections, event_ids, event_types, event_orders, event_sequences, events_not_after)
    as e (merchant_id, connection_id, id, type, order_id, sequence, not_after)
  join webhook_endpoints w on w.merchant_id = e.merchant_id and w.connection_id = e.connection_id
  where w.status <> 'deleted' and e.type = any(w.event_types) and (of_merchant is null or w.merchant_id = of_merchant)
    and (w.mode = 'live' or e.not_after is not null); -- Only events of test orders expire (decision 0108).
  if added is null then
    return;
  end if;

  -- The heads are stored before the deliveries, so that none of these is taken for an earlier one.
  -- A delivery that is pending since before a pause goes first, even if the resume has not reached it yet. Only while the
  -- resend of a resume is open can a stream of an active endpoint have pending deliveries and no head (decision 0033).
  -- The stream's history is read only then, and only if its newest delivery is pending: so the history is read once
  -- after a pause, and not by every event.
  insert into due_deliveries (
    merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at, not_after,
    is_followed)
  select distinct on (o.merchant_id, o.endpoint_id, o.stream_id)
         o.merchant_id, o.connection_id, o.endpoint_id, o.stream_id, coalesce(earlier.id, o.id),
         coalesce(earlier.event_id, o.event_id), 'schedule', 0, published_at, o.not_after,
         earlier.id is not null or count(*) over (partition by o.merchant_id, o.endpoint_id, o.stream_id) > 1
  from unnest(added) o
  left join lateral (
    select first.id, first.event_id
    from (
      select r.merchant_id, r.endpoint_id
      from webhook_resends r
      where r.merchant_id = o.merchant_id and r.endpoint_id = o.endpoint_id and r.in_order and r.delivery_status = 'pending'
        and r.finished_at is null and (of_merchant is null or r.merchant_id = of_merchant)
      limit 1) as resumed
    cross join lateral (
      select d.merchant_id, d.endpoint_id, d.status
      from deliveries d
      where d.merchant_id = resumed.merchant_id and d.endpoint_id = resumed.endpoint_id and d.stream_id = o.stream_id
        and (of_merchant is null or d.merchant_id = of_merchant)
      order by d.sequence desc, d.id desc
      limit 1) as newest
    cross join lateral (
      select d.id, d.event_id
      from deliveries d
      where d.merchant_id = newest.merchant_id and d.endpoint_id = newest.endpoint_id and d.stream_id = o.stream_id
        and d.status = 'pending' and newest.status = 'pending'
        and (of_merchant is null or d.merchant_id = of_merchant)
        and not exists (
          select from due_deliveries h
          where h.merchant_id = newest.merchant_id and h.endpoint_id = newest.endpoint_id and h.stream_id = o.stream_id
            and (of_merchant is null or h.merchant_id = of_merchant))
      order by d.sequence, d.id
      limit 1) as first) as earlier on true
  where o.is_due
  order by o.merchant_id, o.endpoint_id, o.stream_id, o.sequence, o.id
  on conflict (merchant_id, endpoint_id, stream_id) do update set is_followed = true;

  insert into deliveries (
    merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, not_after, status)
  select merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, not_after, 'pending'
  from unnest(added);

  return query
  select distinct a.connection_id
  from unnest(added) a
  where a.is_due;
end
$function$;

comment on type event_delivery is 'A delivery of an event, within publish_events.';
comment on function publish_events is 'Stores events with their deliveries and the heads of their streams. Returns the connections that have something to send.';

-- of_merchant: the merchant of all moves; null if there are several, which Citus does not permit.
-- moves: changes of stock records. A negative on_hand has been shipped, a positive one has been returned. The ids of movements
-- are in the order of the moves.
-- Returns the products whose records were changed. The caller has locked their stock.
create function move_goods(of_merchant uuid, moves json, moved_at timestamptz)
returns table (merchant_id uuid, product_id uuid)
language plpgsql as $function$
#variable_conflict use_column
declare
  merchants  uuid[];
  facilities uuid[];
  products   uuid[];
  totals     integer[];
begin
  with moved as (
    update facility_stock s
    set on_hand = s.on_hand + move.on_hand, reserved = s.reserved + move.reserved, updated_at = moved_at
    from (
      select m.merchant_id, m.facility_id, m.product_id, sum(m.on_hand)::integer as on_hand,
             sum(m.reserved)::integer as reserved
      from json_to_recordset(moves)
        as m (merchant_id uuid, facility_id uuid, product_id uuid, on_hand integer, reserved integer)
      group by m.merchant_id, m.facility_id, m.product_id) as move
    where s.merchant_id = move.merchant_id and s.facility_id = move.facility_id and s.product_id = move.product_id
      and (of_merchant is null or s.merchant_id = of_merchant)
    returning s.merchant_id, s.facility_id, s.product_id, s.on_hand
  )
  select array_agg(m.merchant_id), array_agg(m.facility_id), array_agg(m.product_id), array_agg(m.on_hand)
  into merchants, facilities, products, totals
  from moved m;

  insert into stock_movements (merchant_id, id, facility_id, product_id, kind, difference, on_hand, order_id,
                               actor_kind, actor_name, actor_id, created_at)
  select e.merchant_id, e.movement_id, e.facility_id, e.product_id,
         case when e.on_hand < 0 then 'shipped' else 'returned' end, e.on_hand,
         -- After this move: what is left in the end, without the later moves.
         c.on_hand - coalesce(sum(e.on_hand) over (
           partition by e.merchant_id, e.facility_id, e.product_id order by e.movement_id
           rows between 1 following and unbounded following), 0),
         e.order_id, e.actor_kind, e.actor_name, e.actor_id, moved_at
  from json_to_recordset(moves)
    as e (merchant_id uuid, facility_id uuid, product_id uuid, on_hand integer, movement_id uuid, order_id uuid,
          actor_kind text, actor_name text, actor_id text)
  join unnest(merchants, facilities, products, totals) as c (merchant_id, facility_id, product_id, on_hand)
    on c.merchant_id = e.merchant_id and c.facility_id = e.facility_id and c.product_id = e.product_id
  where e.on_hand <> 0;

  return query
  select c.merchant_id, c.product_id
  from unnest(merchants, products) as c (merchant_id, product_id);
end
$function$;

comment on function move_goods is 'Changes stock records, and adds a movement for each move that changes what is on hand.';
