-- The request that caused an entry (decision 0100). An operator who is given an `x-request-id` finds what it changed, and
-- finds the request of a change in the log. Rows from before have none.

alter table orders add column request_id text;
alter table orders add constraint orders_request_id_length check (char_length(request_id) <= 100) not valid;
comment on column orders.request_id is 'The x-request-id of the request that created the order. Null for orders from before this column.';

alter table timeline_entries add column request_id text;
alter table timeline_entries
  add constraint timeline_entries_request_id_length check (char_length(request_id) <= 100) not valid;
comment on column timeline_entries.request_id is 'The x-request-id of the request. Null if the service itself made the entry, and for entries from before this column.';

alter table ledger_entries add column request_id text;
alter table ledger_entries
  add constraint ledger_entries_request_id_length check (char_length(request_id) <= 100) not valid;
comment on column ledger_entries.request_id is 'The x-request-id of the request that caused the entry. Null if the service itself made it, and for entries from before this column.';
