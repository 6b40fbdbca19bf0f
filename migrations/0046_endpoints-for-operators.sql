-- The back office lists the endpoints of all connections by id, and pauses one by request (decision 0099).

create index webhook_endpoints_shown_idx on webhook_endpoints (id) where status <> 'deleted';
alter table webhook_endpoints drop constraint webhook_endpoints_pause_reason_known;
alter table webhook_endpoints add constraint webhook_endpoints_pause_reason_known check (pause_reason in ('gone', 'failing', 'requested'));
comment on column webhook_endpoints.pause_reason is 'gone: the endpoint returned 410. failing: no success for days. requested: the back office paused it. Null while it is active.';
