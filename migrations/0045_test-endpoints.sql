-- Webhook endpoints are live or test (decision 0108). Endpoints that exist receive everything, as before: they are live.

alter table webhook_endpoints add column mode text not null default 'live';
alter table webhook_endpoints add constraint webhook_endpoints_mode_known check (mode in ('live', 'test'));
comment on column webhook_endpoints.mode is 'live: it receives the events of all orders, and those about no order. test: only events of test orders.';
