-- The address of an order can be corrected until something has shipped (decision 0083). If the country changes, the order
-- is routed again, and its shipping is not charged twice: the order remembers that it has been routed before.

alter table orders add column first_routed_at timestamptz;
comment on column orders.first_routed_at is 'When the order was routed first, if its address was corrected since and it had to be routed again. Null otherwise.';
