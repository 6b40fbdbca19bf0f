-- How events reach partners. What is owed to whom is written with the event itself; a small table holds only what
-- can be sent now; what was tried is only ever added.

create table webhook_endpoints (
  connection_id uuid        not null,
  id            uuid        not null,
  number        integer     not null,
  url           text        not null,
  description   text,
  event_types   text[]      not null,
  status        text        not null,
  pause_reason  text,
  paused_at     timestamptz,
  in_flight_max integer     not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  constraint webhook_endpoints_pkey primary key (connection_id, id),
  constraint webhook_endpoints_number_key unique (connection_id, number),
  constraint webhook_endpoints_connection_id_fkey foreign key (connection_id) references connections (id),
  constraint webhook_endpoints_status_known check (status in ('active', 'paused', 'deleted')),
  constraint webhook_endpoints_pause_reason_known check (pause_reason in ('gone', 'failing')),
  constraint webhook_endpoints_paused_with_reason check ((status = 'paused') = (paused_at is not null and pause_reason is not null)),
  constraint webhook_endpoints_event_types_not_empty check (cardinality(event_types) >= 1 and array_position(event_types, null) is null),
  constraint webhook_endpoints_in_flight_max_in_range check (in_flight_max between 1 and 100),
  constraint webhook_endpoints_number_positive check (number >= 1),
  constraint webhook_endpoints_url_length check (char_length(url) between 1 and 2048)
);
comment on table webhook_endpoints is 'Where a connection wants its events sent. A deleted one keeps its row, for the log of its deliveries.';
comment on column webhook_endpoints.number is 'Counts within the connection; part of the ids of its deliveries (decision 0028).';
comment on column webhook_endpoints.in_flight_max is 'Requests that may be under way to it at the same time.';

create table webhook_secrets (
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  id            uuid        not null,
  sealed        text        not null,
  created_at    timestamptz not null,
  expires_at    timestamptz,
  constraint webhook_secrets_pkey primary key (connection_id, endpoint_id, id),
  constraint webhook_secrets_endpoint_fkey foreign key (connection_id, endpoint_id) references webhook_endpoints (connection_id, id)
);
create unique index webhook_secrets_newest_key on webhook_secrets (connection_id, endpoint_id) where expires_at is null;
comment on table webhook_secrets is 'Signing secrets, encrypted with a key that is not in the database.';
comment on column webhook_secrets.expires_at is 'Null for the newest; after a rotation an older one signs beside it until then.';

create table webhook_endpoint_states (
  connection_id        uuid        not null,
  endpoint_id          uuid        not null,
  worker_id            uuid,
  leased_until         timestamptz not null,
  consecutive_failures integer     not null,
  failing_since        timestamptz,
  last_failure_at      timestamptz,
  last_success_at      timestamptz not null,
  held_until           timestamptz,
  warnings_sent        integer     not null,
  constraint webhook_endpoint_states_pkey primary key (connection_id, endpoint_id),
  constraint webhook_endpoint_states_endpoint_fkey foreign key (connection_id, endpoint_id) references webhook_endpoints (connection_id, id),
  constraint webhook_endpoint_states_failures_not_negative check (consecutive_failures >= 0),
  constraint webhook_endpoint_states_warnings_in_range check (warnings_sent between 0 and 3)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
comment on table webhook_endpoint_states is 'Which worker sends to an endpoint just now, and how the endpoint has been doing.';
comment on column webhook_endpoint_states.worker_id is 'Only this worker sends to the endpoint until leased_until; null when none does.';
comment on column webhook_endpoint_states.last_success_at is 'To the hour, so that not every success is a write; at first the time of creation.';
comment on column webhook_endpoint_states.held_until is 'After failures in a row nothing is sent until then; afterwards one delivery tries the way.';
comment on column webhook_endpoint_states.warnings_sent is 'Mails sent about the present trouble.';

create table deliveries (
  connection_id uuid    not null,
  id            uuid    not null,
  endpoint_id   uuid    not null,
  event_id      uuid    not null,
  event_type    text    not null,
  order_id      uuid,
  sequence      integer,
  lane_id       uuid    not null,
  not_after     timestamptz,
  status        text    not null,
  constraint deliveries_pkey primary key (connection_id, id),
  constraint deliveries_endpoint_fkey foreign key (connection_id, endpoint_id) references webhook_endpoints (connection_id, id),
  constraint deliveries_status_known check (status in ('pending', 'succeeded', 'failed')),
  constraint deliveries_lane_is_order_or_event check (lane_id = coalesce(order_id, event_id))
) with (fillfactor = 50); -- Each row is written once more, when it ends, mostly soon after its neighbours.
create index deliveries_endpoint_idx on deliveries (connection_id, endpoint_id, id);
-- By order as well, since an order's events are a lane. No index knows the status, so that a change of it stays in
-- its page.
create index deliveries_lane_idx on deliveries (connection_id, lane_id, endpoint_id, sequence, id);
comment on table deliveries is 'Each event for each endpoint that wants it, written with the event: the log that partners see.';
comment on column deliveries.id is 'The event''s id with the endpoint''s number in its last 32 bits, so an event can be owed to an endpoint only once.';
comment on column deliveries.lane_id is 'The order, else the event: within a lane of an endpoint one is sent after the other.';
comment on column deliveries.not_after is 'When a test order is erased: nothing is sent from then on.';

create table due_deliveries (
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  lane_id       uuid        not null,
  delivery_id   uuid        not null,
  event_id      uuid        not null,
  cause         text        not null,
  tries         integer     not null,
  due_at        timestamptz not null,
  claim_id      uuid,
  claimed_at    timestamptz,
  leased_until  timestamptz,
  not_after     timestamptz,
  is_followed   boolean     not null default true,
  constraint due_deliveries_pkey primary key (connection_id, endpoint_id, lane_id),
  constraint due_deliveries_cause_known check (cause in ('schedule', 'manual', 'recovery')),
  constraint due_deliveries_claimed_since check ((claim_id is null) = (claimed_at is null) and (claim_id is null) = (leased_until is null)),
  constraint due_deliveries_tries_not_negative check (tries >= 0)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
-- Rows that became due together end one by one. Gathered under one key, as PostgreSQL does with equal ones, each claim
-- would have to pass over those that have ended, until the last of them has.
create index due_deliveries_due_idx on due_deliveries (connection_id, endpoint_id, due_at) with (deduplicate_items = off);
comment on table due_deliveries is 'The head of each lane that has something to send: small, and emptied as deliveries succeed. A row is also the lock of its lane.';
comment on column due_deliveries.lane_id is 'The lane of the delivery; for a delivery sent again by hand, the delivery itself, so that it overtakes.';
comment on column due_deliveries.tries is 'Tries of the schedule so far.';
comment on column due_deliveries.due_at is 'When it may be claimed. A claim leaves it as it is: no index knows of claims, so that they stay in their page.';
comment on column due_deliveries.claim_id is 'The attempt under way; only who holds it may record the outcome.';
comment on column due_deliveries.leased_until is 'From then on somebody else may claim it.';
comment on column due_deliveries.is_followed is 'False when surely nothing waits behind it in its lane, which therefore ends with it.';

create table attempts (
  connection_id   uuid        not null,
  id              uuid        not null,
  delivery_id     uuid        not null,
  cause           text        not null,
  started_at      timestamptz not null,
  duration_ms     integer,
  response_status integer,
  response_body   text,
  error           text,
  constraint attempts_pkey primary key (connection_id, delivery_id, id),
  constraint attempts_duration_not_negative check (duration_ms >= 0),
  constraint attempts_status_or_error check (response_status is not null or error is not null)
) partition by range (id);
comment on table attempts is 'Every try to deliver: only ever added. Partitioned by day on the id, which is the claim''s.';
comment on column attempts.duration_ms is 'Null when the worker ended before it could tell the outcome.';

create table webhook_recoveries (
  connection_id uuid        not null,
  id            uuid        not null,
  endpoint_id   uuid        not null,
  failed_too    boolean     not null,
  since         timestamptz not null,
  until         timestamptz not null,
  position      uuid        not null,
  pass          integer     not null default 1,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  constraint webhook_recoveries_pass_known check (pass in (1, 2)),
  constraint webhook_recoveries_pkey primary key (connection_id, id),
  constraint webhook_recoveries_endpoint_fkey foreign key (connection_id, endpoint_id) references webhook_endpoints (connection_id, id)
);
create index webhook_recoveries_open_idx on webhook_recoveries (connection_id, id) where finished_at is null;
comment on table webhook_recoveries is 'Work that partners asked for: to put deliveries that wait or failed back into their lanes. Done in batches, and gone on with after a crash.';
comment on column webhook_recoveries.failed_too is 'False after a pause: only what has been waiting. True: also what was given up.';
comment on column webhook_recoveries.until is 'Deliveries made before this moment are meant; it is a little later than the request, for steps that had not committed yet.';
comment on column webhook_recoveries.pass is 'The second one, after until, finds what such steps have left without a lane.';
comment on column webhook_recoveries.position is 'The delivery up to which it is done.';

create table outgoing_mails (
  connection_id uuid        not null,
  id            uuid        not null,
  recipient     text        not null,
  subject       text        not null,
  body          text        not null,
  due_at        timestamptz not null,
  tries         integer     not null,
  sent_at       timestamptz,
  failed_at     timestamptz,
  constraint outgoing_mails_pkey primary key (connection_id, id),
  constraint outgoing_mails_connection_id_fkey foreign key (connection_id) references connections (id),
  constraint outgoing_mails_ended_once check (sent_at is null or failed_at is null)
);
create index outgoing_mails_due_idx on outgoing_mails (connection_id, due_at) where sent_at is null and failed_at is null;
comment on table outgoing_mails is 'Mail to merchants, queued in the transaction of its cause and sent by a worker.';
