-- A statement of an account lists the entries of a period and sums up those since its begin (decision 0091). An entry is
-- booked later than its id says, so the primary key does not help. The index alone has all that the sums need.

create index account_entries_booked_idx on account_entries (merchant_id, created_at, id) include (kind, amount_minor);
