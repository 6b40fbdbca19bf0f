-- The erasure of a test order begins with a mark: the order gives up its key and its external id, in one short
-- statement. What belongs to the order is then deleted in batches, and the order's row last (decision 0065).

alter table orders alter column idempotency_key drop not null;
alter table orders add constraint orders_key_unless_erasing check (idempotency_key is not null or test_mode) not valid;
alter table orders validate constraint orders_key_unless_erasing;
comment on column orders.idempotency_key is 'The Idempotency-Key header, else external_order_id; one key space per connection. Null while a test order is being erased.';
