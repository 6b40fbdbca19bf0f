-- Facts that partners are told. An event is written in the transaction of its cause, with its body frozen as
-- text, so nothing is ever announced that did not happen, or happens unannounced.
--
-- Partitioned by day on the id itself, which is a UUIDv7: old days can be dropped whole. Partitions are made by
-- the service ahead of time (src/platform/database/day-partitions.ts). No foreign key points at orders: dropping a
-- partition would lock that table. The erasure of a test order deletes its events in the same transaction.

create table events (
  merchant_id   uuid    not null,
  connection_id uuid    not null,
  id            uuid    not null,
  type          text    not null,
  order_id      uuid,
  sequence      integer,
  body          text    not null,
  not_after     timestamptz,
  feed_position xid8    not null default pg_current_xact_id(),
  constraint events_pkey primary key (merchant_id, id),
  constraint events_sequence_of_orders check ((order_id is null) = (sequence is null)),
  constraint events_sequence_positive check (sequence >= 1)
) partition by range (id);
create index events_order_idx on events (order_id, sequence) where order_id is not null;
create index events_feed_idx on events (connection_id, feed_position, (coalesce(sequence, 0)), id);
comment on table events is 'Every event of every connection, oldest first by id.';
comment on column events.body is 'The exact JSON text that is delivered and signed; text, because jsonb would reorder it.';
comment on column events.not_after is 'When a test order is erased: nobody is shown the event from then on.';
comment on column events.feed_position is 'The id of the transaction that wrote the event, or the position of its order''s previous event if that is later: ids tell when an event was made, which is not the order of commits (decision 0027).';
comment on column events.sequence is 'Counts 1, 2, 3 … within an order; null for events that are not about an order.';
