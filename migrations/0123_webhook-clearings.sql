-- What is due at an endpoint is removed in batches after the endpoint was paused or deleted (decision 0207). There may be
-- millions of rows, too many for the statement that pauses or deletes it.

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
