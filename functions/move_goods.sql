-- Changes stock records, and adds a movement for each move that changes what is on hand. Called by src/stock.
--
-- of_merchant: the merchant of all moves; null if there are several, which Citus does not permit.
-- moves: changes of stock records. A negative on_hand has been shipped; a positive one has been returned, or is reserved again
-- because its shipment was voided. The ids of movements
-- are in the order of the moves.
-- Returns the records that were changed. The caller has locked their stock.
create or replace function move_goods(of_merchant uuid, moves json, moved_at timestamptz)
returns table (merchant_id uuid, facility_id uuid, product_id uuid)
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
         case when e.on_hand < 0 then 'shipped' when e.reserved > 0 then 'voided' else 'returned' end, e.on_hand,
         -- After this move: what is left in the end, without the later moves.
         c.on_hand - coalesce(sum(e.on_hand) over (
           partition by e.merchant_id, e.facility_id, e.product_id order by e.movement_id
           rows between 1 following and unbounded following), 0),
         e.order_id, e.actor_kind, e.actor_name, e.actor_id, moved_at
  from json_to_recordset(moves)
    as e (merchant_id uuid, facility_id uuid, product_id uuid, on_hand integer, reserved integer, movement_id uuid,
          order_id uuid, actor_kind text, actor_name text, actor_id text)
  join unnest(merchants, facilities, products, totals) as c (merchant_id, facility_id, product_id, on_hand)
    on c.merchant_id = e.merchant_id and c.facility_id = e.facility_id and c.product_id = e.product_id
  where e.on_hand <> 0;

  return query
  select c.merchant_id, c.facility_id, c.product_id
  from unnest(merchants, facilities, products) as c (merchant_id, facility_id, product_id);
end
$function$;

comment on function move_goods is 'Changes stock records, and adds a movement for each move that changes what is on hand.';
