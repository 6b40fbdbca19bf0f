-- Webhook endpoints and deliveries. The deliveries of an event are written in the transaction of the event. A small table holds
-- only the deliveries that can be sent now. The log of attempts is append-only.

-- A row with the first endpoint, so that searches by owner read those that have a log, and not all connections. No foreign key:
-- an owner is a connection, a merchant or a facility (docs/design/deliveries.md, "Owners").
create table webhook_owners (
  merchant_id          uuid    not null,
  connection_id        uuid    not null,
  last_endpoint_number integer not null default 0,
  changes_from         bigint,
  constraint webhook_owners_pkey primary key (merchant_id, connection_id),
  constraint webhook_owners_last_endpoint_number_not_negative check (last_endpoint_number >= 0)
);
-- The publisher of the events of merchants and facilities looks for them twice a second, and partners' connections are many.
create index webhook_owners_following_idx on webhook_owners (merchant_id, connection_id) where changes_from is not null;
comment on table webhook_owners is 'Everyone that has, or had, webhook endpoints. The lock of its row decides about numbers and limits of endpoints.';
comment on column webhook_owners.merchant_id is 'The merchant. Of a facility, the id that stands for the warehouse: 00000000-0000-0000-0000-000000000001.';
comment on column webhook_owners.connection_id is 'The connection. Of a merchant itself, the id of the merchant; of a facility, its id. All tables of webhooks name their owner so.';
comment on column webhook_owners.last_endpoint_number is 'The highest number that an endpoint of the owner has had. Changed under the lock of the row.';
comment on column webhook_owners.changes_from is 'The first position in the feed of changes whose events are not published yet. Null for connections, whose events are published with their cause.';

-- So stock.low is published once for each time that stock falls below its limit (docs/design/event-feed.md, "Low stock"). A row is
-- deleted when the stock has risen. No foreign keys to stock: the rows of a facility are with those of the warehouse.
create table known_low_stock (
  merchant_id   uuid not null,
  connection_id uuid not null,
  product_id    uuid not null,
  facility_id   uuid not null,
  constraint known_low_stock_pkey primary key (merchant_id, connection_id, product_id, facility_id),
  constraint known_low_stock_owner_fkey foreign key (merchant_id, connection_id) references webhook_owners (merchant_id, connection_id)
);
comment on table known_low_stock is 'Stock of which an owner of endpoints has been told that it is low, and that has not risen since.';

create table webhook_endpoints (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  id            uuid        not null,
  number        integer     not null,
  mode          text        not null default 'live',
  kind          text        not null default 'push',
  url           text,
  description   text,
  event_types   text[]      not null,
  status        text        not null,
  pause_reason  text,
  paused_at     timestamptz,
  in_flight_max integer     not null,
  header_names   text[]     not null default '{}',
  sealed_headers text,
  alert_email   text,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  constraint webhook_endpoints_pkey primary key (merchant_id, id),
  constraint webhook_endpoints_owner_fkey foreign key (merchant_id, connection_id) references webhook_owners (merchant_id, connection_id),
  constraint webhook_endpoints_status_known check (status in ('active', 'paused', 'deleted')),
  constraint webhook_endpoints_paused_with_reason check ((status = 'paused') = (paused_at is not null and pause_reason is not null)),
  constraint webhook_endpoints_event_types_not_empty check (cardinality(event_types) >= 1 and array_position(event_types, null) is null),
  constraint webhook_endpoints_in_flight_max_in_range check (in_flight_max between 1 and 100),
  constraint webhook_endpoints_headers_bounded check (cardinality(header_names) <= 10 and (sealed_headers is null) = (header_names = '{}')),
  constraint webhook_endpoints_alert_email_length check (char_length(alert_email) between 3 and 254),
  constraint webhook_endpoints_number_positive check (number >= 1),
  constraint webhook_endpoints_url_length check (char_length(url) between 1 and 2048),
  constraint webhook_endpoints_mode_known check (mode in ('live', 'test')),
  constraint webhook_endpoints_kind_known check (kind in ('push', 'pull')),
  constraint webhook_endpoints_url_of_push check ((url is null) = (kind = 'pull')),
  constraint webhook_endpoints_pause_reason_known check (pause_reason in ('gone', 'failing', 'requested', 'access-ended'))
);
-- Two indexes instead of one over all endpoints: publishing reads the endpoints that exist, however many were deleted, and
-- the job that removes deleted ones reads nothing else.
create unique index webhook_endpoints_live_key on webhook_endpoints (merchant_id, connection_id, number)
  where status <> 'deleted';
create index webhook_endpoints_deleted_idx on webhook_endpoints (merchant_id, connection_id, id)
  where status = 'deleted';
-- The back office lists the endpoints of all connections by id.
create index webhook_endpoints_shown_idx on webhook_endpoints (id) where status <> 'deleted';
comment on table webhook_endpoints is 'Where the events of its owner are delivered: to a URL, or to clients that lease them. A deleted endpoint keeps its row until nothing of its log is left.';
comment on column webhook_endpoints.number is 'Counts the endpoints of the owner; part of the ids of its deliveries.';
comment on column webhook_endpoints.mode is 'live: it receives the events of all orders, and those about no order. test: only events of test orders.';
comment on column webhook_endpoints.kind is 'push: workers send to the URL. pull: clients of the owner lease deliveries and acknowledge them.';
comment on column webhook_endpoints.url is 'Null of a pull endpoint.';
comment on column webhook_endpoints.pause_reason is 'gone: the endpoint returned 410. failing: no success for days. requested: the back office paused it. access-ended: a token that had set its address or its secret has ended. Null while it is active.';
comment on column webhook_endpoints.in_flight_max is 'Maximum number of concurrent requests, or of leased deliveries.';
comment on column webhook_endpoints.header_names is 'The names of the headers that each request has in addition.';
comment on column webhook_endpoints.sealed_headers is 'These headers with their values, as JSON, encrypted like webhook_secrets.sealed. Null if there are none.';
comment on column webhook_endpoints.alert_email is 'A mail address that its owner has named for warnings about the endpoint. Null if there is none, and after the deletion.';

-- Apart from webhook_endpoints, and shared: a token is rotated or revoked by a transaction that writes no rows of merchants
-- (docs/design/people.md, "What a token makes").
create table webhook_endpoint_parts (
  endpoint_id   uuid        not null,
  part          text        not null,
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  token_id      uuid        not null,
  token_name    text        not null,
  ends_at       timestamptz,
  is_handled    boolean     not null default false,
  constraint webhook_endpoint_parts_pkey primary key (endpoint_id, part),
  constraint webhook_endpoint_parts_part_known check (part in ('address', 'secret')),
  constraint webhook_endpoint_parts_token_name_length check (char_length(token_name) between 1 and 255)
);
create index webhook_endpoint_parts_token_idx on webhook_endpoint_parts (token_id);
create index webhook_endpoint_parts_ends_idx on webhook_endpoint_parts (ends_at) where not is_handled;
comment on table webhook_endpoint_parts is 'The addresses and the newest secrets of endpoints that tokens of the back office have set, or keys that tokens have issued. Those that others have set have no row.';
comment on column webhook_endpoint_parts.token_id is 'The token with which the part ends; after a rotation, the token that replaced it.';
comment on column webhook_endpoint_parts.token_name is 'The name of the token, which may be deleted before the endpoint.';
comment on column webhook_endpoint_parts.ends_at is 'When the token ends, or has ended. Null: when it is revoked.';
comment on column webhook_endpoint_parts.is_handled is 'Whether the endpoint was paused because the part has ended.';

create table webhook_secrets (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  id            uuid        not null,
  sealed        text        not null,
  created_at    timestamptz not null,
  expires_at    timestamptz,
  constraint webhook_secrets_pkey primary key (merchant_id, endpoint_id, id),
  constraint webhook_secrets_endpoint_fkey foreign key (merchant_id, endpoint_id) references webhook_endpoints (merchant_id, id)
);
create unique index webhook_secrets_newest_key on webhook_secrets (merchant_id, endpoint_id) where expires_at is null;
comment on table webhook_secrets is 'Signing secrets, encrypted with a key that is not in the database.';
comment on column webhook_secrets.expires_at is 'Null for the newest secret. After a rotation an older secret also signs until this time.';

create table webhook_endpoint_states (
  merchant_id          uuid        not null,
  connection_id        uuid        not null,
  endpoint_id          uuid        not null,
  worker_id            uuid,
  leased_until         timestamptz not null,
  consecutive_failures integer     not null,
  failing_since        timestamptz,
  last_failure_at      timestamptz,
  last_error           text,
  last_success_at      timestamptz not null,
  succeeded_at         timestamptz,
  backoff_until        timestamptz,
  recovered_at         timestamptz,
  retries_due          boolean     not null default false,
  warnings_sent        integer     not null,
  proven_host          text,
  constraint webhook_endpoint_states_pkey primary key (merchant_id, endpoint_id),
  constraint webhook_endpoint_states_endpoint_fkey foreign key (merchant_id, endpoint_id) references webhook_endpoints (merchant_id, id),
  constraint webhook_endpoint_states_failures_not_negative check (consecutive_failures >= 0),
  constraint webhook_endpoint_states_warnings_in_range check (warnings_sent between 0 and 3)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index webhook_endpoint_states_retries_idx on webhook_endpoint_states (connection_id, endpoint_id) where retries_due;
comment on table webhook_endpoint_states is 'The worker that currently sends to an endpoint, and the health of the endpoint.';
comment on column webhook_endpoint_states.worker_id is 'Only this worker sends to the endpoint until leased_until. Null when no worker holds the endpoint, and always of a pull endpoint.';
comment on column webhook_endpoint_states.last_error is 'Why the attempt of last_failure_at failed, as attempts have it. It stays after a success. Null if there is none.';
comment on column webhook_endpoint_states.last_success_at is 'Updated at most once an hour, so that not every success is a write. Initially the time of creation.';
comment on column webhook_endpoint_states.succeeded_at is 'The last success. Null before the first one. Updated at most once an hour, and by the first success and the first one after a failure.';
comment on column webhook_endpoint_states.backoff_until is 'After consecutive failures nothing is sent until this time. Then a single delivery probes the endpoint.';
comment on column webhook_endpoint_states.recovered_at is 'When a resume or a recovery was last requested, or a success last ended a backoff. A failure of an attempt that began before is no evidence: it begins no backoff, and its delivery is due at once. Null if never.';
comment on column webhook_endpoint_states.retries_due is 'Whether a worker still has to make the deliveries due that wait for a retry.';
comment on column webhook_endpoint_states.warnings_sent is 'Warning mails sent since the last success.';
comment on column webhook_endpoint_states.proven_host is 'The host and port that returned 2xx last. Null while none has. Not that of the URL if the URL was changed since.';

-- The fill factor: each row is updated once, when the delivery finishes, mostly soon after its neighbors.
create table deliveries (
  merchant_id   uuid not null,
  connection_id uuid not null,
  id            uuid not null,
  endpoint_id   uuid not null,
  event_id      uuid not null,
  event_type    text not null,
  order_id      uuid,
  sequence      integer,
  stream_id     uuid not null,
  not_after     timestamptz,
  status        text not null,
  trigger         text,
  started_at      timestamptz,
  duration_ms     integer,
  response_status integer,
  response_body   text,
  fault           jsonb,
  constraint deliveries_pkey primary key (merchant_id, connection_id, id),
  constraint deliveries_endpoint_fkey foreign key (merchant_id, endpoint_id) references webhook_endpoints (merchant_id, id),
  constraint deliveries_status_known check (status in ('pending', 'succeeded', 'failed')),
  constraint deliveries_stream_is_order_or_event check (stream_id = coalesce(order_id, event_id)),
  constraint deliveries_attempt_succeeded check (started_at is null or status = 'succeeded'),
  constraint deliveries_fault_of_test_order check (fault is null or not_after is not null)
) with (fillfactor = 50);
create index deliveries_endpoint_idx on deliveries (endpoint_id, id);
-- Also finds the deliveries of an order, because the events of an order are a stream. No index contains the status, so
-- that a change of the status is a HOT update.
create index deliveries_stream_idx on deliveries (stream_id, endpoint_id, sequence, id);
comment on table deliveries is 'One row for each event and each endpoint that subscribes to its type, written with the event. This is the log that partners see.';
comment on column deliveries.id is 'The id of the event with the number of the endpoint in its last 32 bits, so that an event has at most one delivery for an endpoint.';
comment on column deliveries.stream_id is 'The order, or the event if it is not about an order. The deliveries of a stream to one endpoint are sent one after another.';
comment on column deliveries.started_at is 'When the attempt of the stream started that succeeded. This and the columns beside it are that attempt; attempts has the others. Null if there is none.';
comment on column deliveries.not_after is 'The time at which a test order is erased. Nothing is sent from this time on.';
comment on column deliveries.fault is 'What its first attempts rehearse, as src/webhooks/faults/delivery-fault.ts defines it. Null for nearly all.';

create table due_deliveries (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  stream_id     uuid        not null,
  delivery_id   uuid        not null,
  event_id      uuid        not null,
  trigger       text        not null,
  attempt_count integer     not null,
  due_at        timestamptz not null,
  claim_id      uuid,
  claimed_at    timestamptz,
  leased_until  timestamptz,
  not_after     timestamptz,
  is_followed   boolean     not null default true,
  constraint due_deliveries_pkey primary key (merchant_id, endpoint_id, stream_id),
  constraint due_deliveries_trigger_known check (trigger in ('schedule', 'manual', 'recovery')),
  constraint due_deliveries_claimed_since check ((claim_id is null) = (claimed_at is null) and (claim_id is null) = (leased_until is null)),
  constraint due_deliveries_attempt_count_not_negative check (attempt_count >= 0)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
-- Rows that became due together are deleted one by one. With deduplication PostgreSQL would store them under one key,
-- and each claim would have to skip the deleted ones until the last of them is gone.
create index due_deliveries_due_idx on due_deliveries (connection_id, endpoint_id, due_at) with (deduplicate_items = off);
comment on table due_deliveries is 'The head of each stream that has something to send. The table stays small, because rows are deleted as deliveries succeed. The row is also the lock of its stream.';
comment on column due_deliveries.stream_id is 'The stream of the delivery. For a manual redelivery, the id of the delivery itself, so that it waits for no other delivery.';
comment on column due_deliveries.attempt_count is 'Failed attempts of the schedule so far.';
comment on column due_deliveries.due_at is 'When the row may be claimed. A claim does not change it: no index contains a column that a claim changes, so that claims are HOT updates.';
comment on column due_deliveries.claim_id is 'The id of the attempt in progress. Only the worker that holds the claim may record the outcome.';
comment on column due_deliveries.leased_until is 'From this time on another worker may claim the row.';
comment on column due_deliveries.is_followed is 'False only when no other delivery of the stream is pending, so that the stream ends with this one.';

create table attempts (
  merchant_id     uuid        not null,
  id              uuid        not null,
  delivery_id     uuid        not null,
  trigger         text        not null,
  started_at      timestamptz not null,
  duration_ms     integer,
  response_status integer,
  response_body   text,
  error           text,
  fault           text,
  constraint attempts_pkey primary key (merchant_id, delivery_id, id),
  constraint attempts_duration_not_negative check (duration_ms >= 0),
  constraint attempts_status_or_error check (response_status is not null or error is not null)
) partition by range (id);
comment on table attempts is 'The attempts to send deliveries, but for those in the rows of deliveries. Append-only. Partitioned by day on the id, which is the id of the claim.';
comment on column attempts.duration_ms is 'Null when the worker ended before it could record the outcome.';
comment on column attempts.fault is 'The fault that the attempt has rehearsed. Null for nearly all.';

-- Faults that partners have asked for with the next events of test orders (docs/design/deliveries.md, "Rehearsed faults").
create table delivery_faults (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  order_id      uuid        not null,
  id            uuid        not null,
  fault         text        not null,
  endpoint_id   uuid,
  event_type    text,
  attempts      integer,
  seconds       integer,
  created_at    timestamptz not null,
  event_id      uuid,
  constraint delivery_faults_pkey primary key (merchant_id, order_id, id),
  constraint delivery_faults_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint delivery_faults_attempts_in_range check (attempts between 1 and 5),
  constraint delivery_faults_seconds_in_range check (seconds between 1 and 600)
);
comment on table delivery_faults is 'Faults to rehearse with deliveries of a test order. They are erased with it.';
comment on column delivery_faults.endpoint_id is 'The test endpoint that it is for. Null: all that the event is delivered to.';
comment on column delivery_faults.event_type is 'Only for an event of this type. Null: for any.';
comment on column delivery_faults.attempts is 'How many attempts it drops. Null for other faults.';
comment on column delivery_faults.seconds is 'How long it holds deliveries back, at most. Null for other faults.';
comment on column delivery_faults.event_id is 'The event that has it, or the first one. Null until there is one.';

-- Apart from due_deliveries, so that leases that have ended, and those of an endpoint, are found without a search among all that is
-- due (docs/design/deliveries.md, "Pull endpoints").
create table webhook_pull_leases (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  delivery_id   uuid        not null,
  number        integer     not null,
  stream_id     uuid        not null,
  claim_id      uuid        not null,
  leased_at     timestamptz not null,
  leased_until  timestamptz not null,
  constraint webhook_pull_leases_pkey primary key (merchant_id, endpoint_id, delivery_id, number),
  constraint webhook_pull_leases_endpoint_fkey foreign key (merchant_id, endpoint_id) references webhook_endpoints (merchant_id, id),
  constraint webhook_pull_leases_number_positive check (number >= 1)
);
create index webhook_pull_leases_end_idx on webhook_pull_leases (leased_until);
comment on table webhook_pull_leases is 'Deliveries that clients of pull endpoints have leased, at most in_flight_max of an endpoint. A row is deleted when the attempt is acknowledged, returned or ended.';
comment on column webhook_pull_leases.number is 'The attempt of the delivery, as its log counts it.';
comment on column webhook_pull_leases.claim_id is 'As in due_deliveries, whose row has the claim.';
comment on column webhook_pull_leases.leased_at is 'When the attempt began. It is also the time that the delivery is signed with.';
comment on column webhook_pull_leases.leased_until is 'From this time on the attempt counts as failed, as soon as the endpoint is leased from or a worker finds it.';

-- What is due at an endpoint is removed in batches after the endpoint was paused or deleted
-- (docs/design/deliveries.md, "Backoff and pause"). There may be millions of rows, too many for the statement that pauses or
-- deletes it.
create table webhook_clearings (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  endpoint_id   uuid        not null,
  part          text        not null,
  position      uuid        not null,
  created_at    timestamptz not null,
  constraint webhook_clearings_pkey primary key (merchant_id, endpoint_id),
  constraint webhook_clearings_endpoint_fkey foreign key (merchant_id, endpoint_id) references webhook_endpoints (merchant_id, id),
  constraint webhook_clearings_part_known check (part in ('streams', 'deliveries'))
);
comment on table webhook_clearings is 'Endpoints that were paused or deleted, and whose due deliveries a worker still has to remove. A row is deleted when all are removed, or when the endpoint was resumed.';
comment on column webhook_clearings.part is 'streams: heads of streams are removed from due_deliveries. deliveries: after that, the pending deliveries of a deleted endpoint fail.';
comment on column webhook_clearings.position is 'The stream or the delivery up to which the part has been processed.';
comment on column webhook_clearings.created_at is 'When the endpoint was last paused or deleted.';

create table webhook_resends (
  merchant_id     uuid        not null,
  connection_id   uuid        not null,
  id              uuid        not null,
  in_order        boolean     not null,
  delivery_ids    uuid[],
  since           timestamptz,
  until           timestamptz,
  endpoint_id     uuid,
  event_type      text,
  delivery_status text,
  total           integer,
  position        uuid        not null,
  sending         uuid[]      not null,
  is_read         boolean     not null,
  succeeded_count integer     not null,
  failed_count    integer     not null,
  returned_count  integer     not null default 0,
  skipped         jsonb       not null,
  created_at      timestamptz not null,
  canceled_at     timestamptz,
  finished_at     timestamptz,
  constraint webhook_resends_pkey primary key (merchant_id, id),
  constraint webhook_resends_owner_fkey foreign key (merchant_id, connection_id) references webhook_owners (merchant_id, connection_id),
  constraint webhook_resends_order_of_endpoint check (
    not in_order or (endpoint_id is not null and since is not null and event_type is null and delivery_status in ('failed', 'pending'))),
  constraint webhook_resends_selection_or_period check ((delivery_ids is null) = (since is not null and until is not null)),
  constraint webhook_resends_selection_bounded check (cardinality(delivery_ids) between 1 and 100),
  constraint webhook_resends_sending_bounded check (cardinality(sending) <= 500),
  constraint webhook_resends_status_known check (delivery_status in ('pending', 'succeeded', 'failed')),
  constraint webhook_resends_counts_not_negative check (
    total >= 0 and succeeded_count >= 0 and failed_count >= 0 and returned_count >= 0)
);
create index webhook_resends_connection_idx on webhook_resends (connection_id, id);
create index webhook_resends_open_idx on webhook_resends (connection_id, id) where finished_at is null;
create unique index webhook_resends_in_order_key on webhook_resends (merchant_id, endpoint_id, delivery_status) where in_order;
comment on table webhook_resends is 'Requests to send deliveries again: a selection or a period of the log, or what failed or is pending at an endpoint. Processed in batches, and resumed after a crash.';
comment on column webhook_resends.id is 'UUIDv7, made by the service. On the wire it has the prefix rsd.';
comment on column webhook_resends.in_order is 'True: the deliveries go back to their streams, in order and with retries. An endpoint has one such row for what failed (a recovery) and one for what is pending (a resume), open or finished: a further request changes it. False: each is sent once, alone.';
comment on column webhook_resends.delivery_ids is 'The chosen deliveries. Null for a period.';
comment on column webhook_resends.since is 'Deliveries of events from this time on. Null for a selection.';
comment on column webhook_resends.until is 'Deliveries of events before this time. Null for a selection. With in_order the time of the last request; deliveries of events of a little later are read too, because clocks differ and transactions may not have committed yet.';
comment on column webhook_resends.endpoint_id is 'Only deliveries to this endpoint. Null: to all.';
comment on column webhook_resends.event_type is 'Only deliveries of events of this type. Null: of all.';
comment on column webhook_resends.delivery_status is 'Only deliveries with this status when they are read. Null: with any.';
comment on column webhook_resends.total is 'Deliveries that fitted at the request, or at the requests that were merged. Null: too many to count.';
comment on column webhook_resends.position is 'The delivery up to which the log has been read.';
comment on column webhook_resends.sending is 'Deliveries that were made due, and whose outcome is not counted yet. Reading waits while there are many.';
comment on column webhook_resends.is_read is 'Whether all deliveries have been read. A resume is read again after until, for deliveries whose transactions committed during the first time.';
comment on column webhook_resends.succeeded_count is 'Deliveries that were sent once more, with success.';
comment on column webhook_resends.failed_count is 'Deliveries that were sent once more, without success.';
comment on column webhook_resends.returned_count is 'With in_order: deliveries that were returned to their streams.';
comment on column webhook_resends.skipped is 'Numbers of deliveries that were not sent, by reason.';
comment on column webhook_resends.created_at is 'When it was requested.';
comment on column webhook_resends.canceled_at is 'When it was canceled. No further delivery is made due from then on. Null if it was not.';
comment on column webhook_resends.finished_at is 'When the last outcome was counted. Null before that.';
