-- Staff of named facilities list the orders that are routed there (decision 0121). Without this index, a list would read the
-- orders of all facilities until it has found enough of one.
--
-- New orders are routed nowhere, so creating an order does not write to it.

create index orders_facility_idx on orders (merchant_id, facility_id, id) where facility_id is not null;
