-- Orders that wait for stock or for a rate, by merchant: new goods are of one merchant, and only its orders are read (decision 0209).
create index orders_waiting_idx on orders (merchant_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and hold_reasons && '{out_of_stock,address_unserviceable}';
drop index orders_routing_waiting_idx;
