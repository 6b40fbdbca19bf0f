-- Functions that store events and moves of goods, in place of statements of chained inserts. Citus ran those step by step over all
-- nodes, so no order could change while one of them was down. A call runs on the node of its merchant alone (decision 0171).

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
  -- A delivery that is pending since before a pause goes first, even if the recovery has not reached it yet. Only while the
  -- recovery of a resume is open can a stream of an active endpoint have pending deliveries and no head (decision 0033).
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
      from webhook_recoveries r
      where r.merchant_id = o.merchant_id and r.endpoint_id = o.endpoint_id and not r.includes_failed
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
