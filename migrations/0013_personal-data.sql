-- The personal data of the buyer of a settled order is erased after a time, or on request (decision 0071). The rest of the
-- order stays.

alter table orders add column personal_data_erased_at timestamptz;
comment on column orders.personal_data_erased_at is 'When the address and the tracking were erased. Null while the order holds them.';

-- Settled orders whose personal data is not erased yet, the oldest first. A settled order changes only by a return and by
-- updates of its shipments.
create index orders_personal_data_idx on orders (updated_at)
  where status in ('COMPLETED', 'CANCELED', 'RETURNED') and not test_mode and personal_data_erased_at is null;
