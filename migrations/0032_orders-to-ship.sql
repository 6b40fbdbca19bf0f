-- Lets the work list of a facility find the orders that can be shipped, oldest first, without reading orders that have
-- shipped and are not completed yet (decision 0096).

alter table orders add column has_unshipped boolean not null default true;
comment on column orders.has_unshipped is 'Whether a line may be unshipped. False only if all lines have shipped; set by the transition that ships.';

update orders o
set has_unshipped = false
where o.status in ('ACCEPTED', 'IN_PROGRESS') and o.routed_at is not null
  and not exists (
    select from order_lines l where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null);

-- Orders without a facility have the zero UUID here, so that one index serves both kinds. New orders are in no entry.
create index orders_to_ship_idx on orders ((coalesce(facility_id, '00000000-0000-0000-0000-000000000000'::uuid)), id)
  where has_unshipped and routed_at is not null and status in ('ACCEPTED', 'IN_PROGRESS') and hold_reasons = '{}'
    and not test_mode;
