-- Sending many deliveries once more with progress (decision 0142). A person chooses deliveries, or a period of the log. A
-- worker goes through them, and the row says how far it is and what became of them.

create table webhook_resends (
  merchant_id     uuid        not null,
  connection_id   uuid        not null,
  id              uuid        not null,
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
  skipped         jsonb       not null,
  created_at      timestamptz not null,
  canceled_at     timestamptz,
  finished_at     timestamptz,
  constraint webhook_resends_pkey primary key (merchant_id, id),
  constraint webhook_resends_connection_id_fkey foreign key (merchant_id, connection_id) references connections (merchant_id, id),
  constraint webhook_resends_selection_or_period check ((delivery_ids is null) = (since is not null and until is not null)),
  constraint webhook_resends_selection_bounded check (cardinality(delivery_ids) between 1 and 100),
  constraint webhook_resends_sending_bounded check (cardinality(sending) <= 500),
  constraint webhook_resends_status_known check (delivery_status in ('pending', 'succeeded', 'failed')),
  constraint webhook_resends_counts_not_negative check (total >= 0 and succeeded_count >= 0 and failed_count >= 0)
);
create index webhook_resends_connection_idx on webhook_resends (connection_id, id);
create index webhook_resends_open_idx on webhook_resends (connection_id, id) where finished_at is null;
comment on table webhook_resends is 'Requests to send a selection or a period of the delivery log once more. Processed in batches, and resumed after a crash.';
comment on column webhook_resends.id is 'UUIDv7, made by the service. On the wire it has the prefix rsd.';
comment on column webhook_resends.delivery_ids is 'The chosen deliveries. Null for a period.';
comment on column webhook_resends.since is 'Deliveries of events from this time on. Null for a selection.';
comment on column webhook_resends.until is 'Deliveries of events before this time. Null for a selection.';
comment on column webhook_resends.endpoint_id is 'Only deliveries to this endpoint. Null: to all.';
comment on column webhook_resends.event_type is 'Only deliveries of events of this type. Null: of all.';
comment on column webhook_resends.delivery_status is 'Only deliveries with this status when they are read. Null: with any.';
comment on column webhook_resends.total is 'Deliveries that fitted at the request. Null: too many to count.';
comment on column webhook_resends.position is 'The delivery up to which the log has been read.';
comment on column webhook_resends.sending is 'Deliveries that were made due, and whose outcome is not counted yet. Reading waits while there are many.';
comment on column webhook_resends.is_read is 'Whether all deliveries have been read.';
comment on column webhook_resends.succeeded_count is 'Deliveries that were sent once more, with success.';
comment on column webhook_resends.failed_count is 'Deliveries that were sent once more, without success.';
comment on column webhook_resends.skipped is 'Numbers of deliveries that were not sent, by reason.';
comment on column webhook_resends.created_at is 'When it was requested.';
comment on column webhook_resends.canceled_at is 'When it was canceled. No further delivery is made due from then on. Null if it was not.';
comment on column webhook_resends.finished_at is 'When the last outcome was counted. Null before that.';
