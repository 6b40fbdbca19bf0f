import { DAY_MS, EVENTS_KEPT_MS, LOG_KEPT_MS, STOCK_MOVEMENTS_KEPT_MS } from "../../src/platform/time.ts";

/**
 * The orders of a day: $1 orders were stored before, $2 are stored, $3 is how many days ago the day was. Half of them are
 * of the first owner. What is a day old is settled, except for a fifth that is never completed; of the newest, all are to be
 * packed, and of the last hundred days one in 337 waits for stock.
 */
export const PLACE_STATEMENT = `
  create temporary table filled as
  select o.*, n.*, uuidv7(n.created_at - now()) as order_id,
         uuidv7(n.created_at - now()) as line_1, uuidv7(n.created_at - now()) as line_2,
         uuidv7(n.created_at - now()) as event_1, uuidv7(n.created_at - now() + interval '20 hours') as event_2,
         uuidv7(n.created_at - now() + interval '23 hours') as event_3,
         uuidv7(n.created_at - now() + interval '20 hours') as shipment_id,
         uuidv7(n.created_at - now() + interval '2 hours') as shipping_entry,
         status in ('COMPLETED', 'IN_PROGRESS', 'RETURNED') as is_shipped,
         status in ('COMPLETED', 'CANCELED', 'RETURNED') and $3 > 90 as is_erased
  from (
    select number, '2000-01-01'::timestamptz + (now() - '2000-01-01'::timestamptz)
             - make_interval(days => $3::integer) + (number - $1::integer) * interval '1 day' / $2::integer as created_at,
           case
             when $3 <= 100 and number % 337 = 0 then 'WAITING'
             when $3 <= 1 then 'ACCEPTED'
             when number % 100 < 6 then 'CANCELED'
             when number % 100 < 9 then 'RETURNED'
             when number % 100 < 29 then 'IN_PROGRESS'
             else 'COMPLETED'
           end as status
    from generate_series($1::integer + 1, $1::integer + $2::integer) as number) as n
  join owners o on o.owner = case when n.number % 2 = 0 then 0 else 1 + (n.number / 2) % 9 end`;

/** Null: all orders have it, however old they are. */
type FillStatement = { readonly text: string; readonly keptMs: number | null };
const forever = (text: string): FillStatement => ({ text, keptMs: null });

export const FILL_STATEMENTS: readonly FillStatement[] = [
  forever(`
    insert into order_requests (
      merchant_id, order_id, connection_id, test_mode, external_order_id, idempotency_key, request_hash, request_id, first_name,
      last_name, name, address1, city, zip, words)
    select merchant_id, order_id, connection_id, false, 'shop-' || number, 'shop-' || number, sha256(order_id::text::bytea),
           order_id::text, case when is_erased then 'erased' else first_name end,
           case when is_erased then 'erased' else last_name end,
           case when is_erased then 'erased' end, case when is_erased then 'erased' else '12 St James Square' end,
           case when is_erased then 'erased' else 'London' end, case when is_erased then 'erased' else 'SW1Y 4JH' end,
           case when not is_erased then lower(first_name || ' ' || last_name) || ' london sw1y 4jh sw1y4jh ' || number end
    from filled
    cross join lateral (select 'First' || abs(hashint4(number)) % 1000 as first_name,
                               'Last' || abs(hashint4(number)) % 50000 as last_name) as named`),
  forever(`
    insert into orders (
      merchant_id, connection_id, id, test_mode, status, hold_reasons, goods_minor, currency, country_code, created_at,
      updated_at, changed_at, acceptance_due_at, last_sequence, routed_at, first_routed_at, facility_id, canceled_at,
      has_unshipped, personal_data_erased_at)
    select merchant_id, connection_id, order_id, false, case when status = 'WAITING' then 'ACCEPTED' else status end,
           case when status = 'WAITING' then '{out_of_stock}'::text[] else '{}' end, 4500, 'EUR', 'GB', created_at, created_at + interval '23 hours', created_at + interval '23 hours', created_at + interval '2 hours', 3,
           case when status not in ('WAITING', 'CANCELED') then created_at + interval '2 hours' end,
           case when status not in ('WAITING', 'CANCELED') then created_at + interval '2 hours' end,
           case when status not in ('WAITING', 'CANCELED') then facility_id end,
           case when status = 'CANCELED' then created_at + interval '1 hour' end, not is_shipped,
           case when is_erased then now() end
    from filled`),
  forever(`
    insert into shipments (
      merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at, shipped_at)
    select merchant_id, order_id, shipment_id, case when status = 'RETURNED' then 'returned' else 'shipped' end, 'DHL',
           case when not is_erased then 'JD' || number end, case when not is_erased then 'https://t.example/' || number end,
           created_at + interval '20 hours', created_at + interval '20 hours'
    from filled
    where is_shipped`),
  forever(`
    insert into order_lines (
      merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor, shipment_id, returned_quantity)
    select merchant_id, connection_id, order_id, line, product, quantity, 1500,
           case when is_shipped then shipment_id end, case when status = 'RETURNED' then quantity else 0 end
    from filled cross join lateral (values (line_1, product_1, 1), (line_2, product_2, 2)) as l (line, product, quantity)`),
  forever(`
    insert into timeline_entries (
      merchant_id, order_id, id, operation, actor_kind, shipment_id, status, hold_reasons, created_at, request_id)
    select merchant_id, order_id, uuidv7(created_at + after - now()), operation, 'service',
           case when operation = 'ship' then shipment_id end, step.status, '{}', created_at + after, order_id::text
    from filled
    cross join lateral (values
      ('cancel', 'CANCELED', interval '1 hour', filled.status = 'CANCELED'),
      ('accept', 'ACCEPTED', interval '2 hours', filled.status <> 'CANCELED'),
      ('route', 'ACCEPTED', interval '2 hours', filled.status <> 'CANCELED'),
      ('ship', 'IN_PROGRESS', interval '20 hours', is_shipped),
      ('complete', 'COMPLETED', interval '23 hours', filled.status in ('COMPLETED', 'RETURNED')),
      ('returnShipment', 'RETURNED', interval '23 hours', filled.status = 'RETURNED')) as step (operation, status, after, applies)
    where step.applies`),
  forever(`
    insert into ledger_entries (
      merchant_id, order_id, id, kind, attempt, refund_of, amount_minor, request_id, created_at, outcome, gateway, gateway_reference,
      processed_at)
    select merchant_id, order_id, entry, kind, 1, refund_of, 4500, order_id::text, created_at, 'succeeded', 'account', entry::text,
           created_at
    from filled
    cross join lateral (values
      (order_id, 'goods', null::uuid, true),
      (shipping_entry, 'shipping', null, status not in ('WAITING', 'CANCELED')),
      (event_2, 'refund', order_id, status = 'CANCELED')) as e (entry, kind, refund_of, applies)
    where e.applies`),
  forever(`
    insert into account_entries (merchant_id, id, kind, amount_minor, created_at)
    select merchant_id, entry, kind, case when kind = 'charge' then -4500 else 4500 end, created_at
    from filled
    cross join lateral (values
      (order_id, 'charge', true), (shipping_entry, 'charge', status not in ('WAITING', 'CANCELED')),
      (event_2, 'refund', status = 'CANCELED')) as e (entry, kind, applies)
    where e.applies`),
  kept(
    EVENTS_KEPT_MS,
    `insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, position)
     select merchant_id, connection_id, event, type, order_id, sequence, json_build_object('id', event, 'type', type, 'data', '{}'::json, 'filler', repeat(md5(number::text), 30))::text,
            (extract(epoch from created_at) * 1000000)::bigint + number
     from filled
     cross join lateral (values
       (event_1, 'order.created', 1, true), (event_2, 'order.shipmentCreated', 2, is_shipped),
       (event_2, 'order.canceled', 2, status = 'CANCELED'), (event_3, 'order.completed', 3, status = 'COMPLETED'))
       as e (event, type, sequence, applies)
     where e.applies and event < uuidv7()`,
  ),
  kept(
    LOG_KEPT_MS,
    `insert into deliveries (
       merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, status)
     select merchant_id, connection_id, (left(event::text, 28) || '00000001')::uuid, endpoint_id, event, type, order_id,
            sequence, order_id, case when number % 500 = 0 then 'failed' else 'succeeded' end
     from filled
     cross join lateral (values
       (event_1, 'order.created', 1, true), (event_2, 'order.shipmentCreated', 2, is_shipped),
       (event_2, 'order.canceled', 2, status = 'CANCELED'), (event_3, 'order.completed', 3, status = 'COMPLETED'))
       as e (event, type, sequence, applies)
     where e.applies`,
  ),
  kept(
    LOG_KEPT_MS,
    `insert into attempts (merchant_id, id, delivery_id, trigger, started_at, duration_ms, response_status, response_body)
     select merchant_id, uuidv7(created_at - now() + interval '1 second'), (left(event::text, 28) || '00000001')::uuid, 'schedule', created_at, 40, 200, 'ok'
     from filled
     cross join lateral (values (event_1, true), (event_2, is_shipped or status = 'CANCELED'), (event_3, status = 'COMPLETED'))
       as e (event, applies)
     where e.applies`,
  ),
  kept(
    STOCK_MOVEMENTS_KEPT_MS,
    `insert into stock_movements (
       merchant_id, id, facility_id, product_id, kind, difference, on_hand, order_id, actor_kind, created_at)
     select merchant_id, uuidv7(created_at - now() + interval '20 hours'), facility_id, product, 'shipped', -1, 900000, order_id, 'warehouse',
            created_at + interval '20 hours'
     from filled cross join lateral (values (product_1), (product_2)) as l (product)
     where is_shipped`,
  ),
  kept(
    400 * DAY_MS, // AUDIT_RETENTION_DAYS
    `insert into audit_entries (
       merchant_id, id, connection_id, action, actor_kind, actor_name, request_id, subject_type, subject_ids, details,
       created_at)
     select merchant_id, uuidv7(created_at - now() + interval '20 hours'), connection_id, 'shipOrder', 'warehouse', 'wms', order_id::text, 'ord',
            array[order_id], '{"carrier":"DHL"}', created_at + interval '20 hours'
     from filled
     where is_shipped`,
  ),
];

function kept(keptMs: number, text: string): FillStatement {
  return { text, keptMs };
}
