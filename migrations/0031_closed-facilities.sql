-- A facility can be closed (decision 0095): no further order is routed to it.

alter table facilities add column closed_at timestamptz;
comment on column facilities.closed_at is 'When the facility was closed: no order is routed to it. Null while it is open.';
