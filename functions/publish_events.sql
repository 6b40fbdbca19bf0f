-- Stores events with their deliveries and the heads of their streams: the only place where an event becomes deliveries. Called by
-- src/webhooks for transitions and for events that are not about an order, and by place_orders for the first events of orders.
--
-- of_merchant: the merchant of all events; null if there are several, which Citus does not permit. There the call runs as a
-- whole on the node of the merchant, without two-phase commit (docs/design/distribution.md, "Functions run on one node").
-- event_…: the columns of all events. Returns the connections that have something to send.

drop type if exists event_delivery cascade;

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

create or replace function publish_events(
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
language plpgsql
-- The endpoints of an event are read in an order that only the index of a connection's live endpoints has. With sorting
-- disabled each plan uses it, also one that a session has made when there were few endpoints
-- (docs/design/database.md, "Plans and statistics").
set enable_sort = off
-- Before PostgreSQL 18 a disabled sort counts as so expensive that the server would compile the statement.
set jit = off
-- Changed below, and restored when the call ends.
set plan_cache_mode = auto
as $function$
#variable_conflict use_column
declare
  added event_delivery[];
begin
  -- To plan each statement for the values of a call takes longer than what it plans. Citus finds the shard by the values.
  if of_merchant is null then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;

  -- The heads of the streams, in the order in which all transactions lock them. Each statement of the function sees what was
  -- committed before it. So those below see the deliveries that a transaction has added, for which this one has waited.
  -- A stream that begins with its event, as that of a new order does, has no head yet.
  if 1 < any(event_sequences) then
    perform due.stream_id
    from unnest(event_merchants, event_connections, event_orders, event_sequences)
      as e (merchant_id, connection_id, order_id, sequence)
    join webhook_endpoints w on w.merchant_id = e.merchant_id and w.connection_id = e.connection_id
    join due_deliveries due on due.merchant_id = e.merchant_id and due.endpoint_id = w.id and due.stream_id = e.order_id
    where e.sequence > 1 and w.status <> 'deleted' and (of_merchant is null or e.merchant_id = of_merchant)
    order by due.merchant_id, due.endpoint_id, due.stream_id
    for update of due;
  end if;

  insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
  select e.merchant_id, e.connection_id, e.id, e.type, e.order_id, e.sequence, e.body, e.not_after
  from unnest(event_merchants, event_connections, event_ids, event_types, event_orders, event_sequences, event_bodies,
              events_not_after)
    as e (merchant_id, connection_id, id, type, order_id, sequence, body, not_after);

  -- The endpoints are read once, so that deliveries and heads see the same ones. The id of a delivery is the id of its event
  -- with the number of the endpoint in the last 32 bits (docs/design/deliveries.md, "Delivery ids").
  select array_agg(row(
    w.merchant_id, w.connection_id, (left(e.id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id,
    e.id, e.type, e.order_id, e.sequence, coalesce(e.order_id, e.id), e.not_after, w.status = 'active')::event_delivery)
  into added
  from unnest(event_merchants, event_connections, event_ids, event_types, event_orders, event_sequences, events_not_after)
    as e (merchant_id, connection_id, id, type, order_id, sequence, not_after)
  cross join lateral (
    select w.merchant_id, w.connection_id, w.id, w.number, w.status, w.mode, w.event_types
    from webhook_endpoints w
    where w.merchant_id = e.merchant_id and w.connection_id = e.connection_id and w.status <> 'deleted'
      and (of_merchant is null or w.merchant_id = of_merchant)
    order by w.number) as w
  where e.type = any(w.event_types)
    -- Only events of test orders expire (docs/design/isolation-and-limits.md, "Live and test keys").
    and (w.mode = 'live' or e.not_after is not null);
  if added is null then
    return;
  end if;

  -- The heads are stored before the deliveries, so that none of these is taken for an earlier one. A delivery that is pending
  -- since before a pause goes first, even if the resume has not reached it yet. Only while the resend of a resume is open can a
  -- stream of an active endpoint have pending deliveries and no head (docs/design/deliveries.md, "Streams"). The stream's
  -- history is read only then, and only if its newest delivery is pending: so the history is read once after a pause, and not
  -- by every event. A stream that begins with its event has none.
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
      where o.sequence > 1
        and r.merchant_id = o.merchant_id and r.endpoint_id = o.endpoint_id and r.in_order and r.delivery_status = 'pending'
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
