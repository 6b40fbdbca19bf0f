-- The index of 0020 served more than the search: before a table has statistics, the planner also chose it for an order by
-- its external id, and read all orders of the connection. Its successor has a condition that every order satisfies, and
-- that only the search names (decision 0084).

drop index orders_connection_idx;

create index orders_search_idx on orders (connection_id, id) where created_at > '-infinity';
