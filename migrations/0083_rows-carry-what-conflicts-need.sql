-- Grants of requests, and claims of orders to pick, are inserts from a list that update a row on conflict. On Citus such an
-- update can use no parameter of the statement, only the columns of the rejected row. So the row carries what it compares
-- (decision 0166).

alter table rate_limits add column window_us bigint;
comment on column rate_limits.window_us is 'How far ahead of the time requests have positions, in microseconds, by the settings of the process with the newest grant. Null if a version before this column made it.';

alter table pick_list_orders add column taken_at timestamptz;
comment on column pick_list_orders.taken_at is 'As in pick_lists. Null if a version before this column has taken the order.';
