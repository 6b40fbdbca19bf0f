-- Lets the list of orders that are ready to ship read these alone. orders_status_idx made it read all orders of a connection
-- that are in progress, also those that have shipped long ago and that nobody completes: their number grows with all orders.
--
-- It has the condition of orders_to_ship_idx, which serves a facility. New orders are in no entry.
create index orders_ready_idx on orders (connection_id, id)
  where has_unshipped and routed_at is not null and status in ('ACCEPTED', 'IN_PROGRESS') and hold_reasons = '{}'
    and not test_mode;
