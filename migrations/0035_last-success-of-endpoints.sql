-- Partners see when an endpoint last accepted an event. last_success_at cannot show it: it begins with the creation, and a
-- resume sets it, because the pause is counted from it.

alter table webhook_endpoint_states add column succeeded_at timestamptz;
comment on column webhook_endpoint_states.succeeded_at is 'The last success. Null before the first one. Updated at most once an hour, and by the first success and the first one after a failure.';
