-- Certifications: runs that examine the receiver of a test endpoint with test orders and faults. The state of a run is in its row,
-- so that any worker continues it (docs/design/certification.md, "A run is a row").

create table certifications (
  merchant_id         uuid        not null,
  connection_id       uuid        not null,
  id                  uuid        not null,
  endpoint_id         uuid        not null,
  endpoint_updated_at timestamptz not null,
  product_id          uuid        not null,
  status              text        not null default 'running',
  reason              text,
  progress            jsonb       not null,
  results             jsonb       not null default '[]',
  look_at             timestamptz not null,
  lost_at             timestamptz,
  repeated_at         timestamptz,
  otherwise           text,
  created_at          timestamptz not null,
  finished_at         timestamptz,
  constraint certifications_pkey primary key (merchant_id, id),
  constraint certifications_connection_fkey foreign key (merchant_id, connection_id) references connections (merchant_id, id),
  constraint certifications_status_known check (status in ('running', 'passed', 'failed', 'canceled')),
  constraint certifications_finished_unless_running check ((status = 'running') = (finished_at is null)),
  constraint certifications_results_array check (jsonb_typeof(results) = 'array')
);
-- A connection has one open run. Two requests at the same time cannot both start one.
create unique index certifications_open_key on certifications (merchant_id, connection_id) where finished_at is null;
create index certifications_connection_idx on certifications (connection_id, id);
create index certifications_look_idx on certifications (look_at) where finished_at is null;
comment on table certifications is 'Runs that examine the receiver of a test endpoint, with their reports. The newest 50 of a connection are kept.';
comment on column certifications.id is 'UUIDv7, made by the service. On the wire it has the prefix crt. The external ids of its test orders begin with that.';
comment on column certifications.endpoint_id is 'The test endpoint. No foreign key: the report outlives the endpoint.';
comment on column certifications.endpoint_updated_at is 'When the endpoint was last changed before the run. If it is changed during the run, the run ends: the challenge has proved another address.';
comment on column certifications.product_id is 'What the test orders are of.';
comment on column certifications.reason is 'Why the run ended before its last check. Null if it did not.';
comment on column certifications.progress is 'How far the run has come: src/certification/script.ts, Progress.';
comment on column certifications.results is 'The checks that are decided, with what was seen: src/certification/checks.ts, CheckResult.';
comment on column certifications.look_at is 'When a worker looks at the run next.';
comment on column certifications.lost_at is 'When the creation arrived whose response was lost. Null before that.';
comment on column certifications.repeated_at is 'When the same creation arrived again. Null before that.';
comment on column certifications.otherwise is 'What the partner sent instead of the same creation. Null if nothing.';
