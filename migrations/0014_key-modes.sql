-- Keys are live or test (decision 0074). Keys that exist can do everything, as before: they are live.

alter table api_keys add column mode text not null default 'live';
alter table api_keys add constraint api_keys_mode_known check (mode in ('live', 'test'));
comment on column api_keys.mode is 'live: the key can do everything. test: it creates and changes test orders only, and finds no real order.';
