-- Orders that wait for stock or for a rate, by merchant: new goods are of one merchant, and only its orders are read (decision 0209).
-- The index that it replaces is dropped by the next migration: a transaction that has built an index and then locks the table for more
-- can be in a deadlock with changes of orders.
create index orders_waiting_idx on orders (merchant_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and hold_reasons && '{out_of_stock,address_unserviceable}';
