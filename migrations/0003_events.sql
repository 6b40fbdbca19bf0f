-- Facts that are published to partners. An event is written in the transaction of its cause, with its body frozen as
-- text. So no event is published for a change that was rolled back, and no change lacks its event.
--
-- Partitioned by day on the id itself, which is a UUIDv7, so that old days can be dropped whole. The service creates
-- partitions ahead of time (src/platform/database/day-partitions.ts). There is no foreign key to orders: dropping a
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
comment on column events.not_after is 'When a test order is erased. From then on its events are not shown.';
comment on column events.feed_position is 'The id of the transaction that wrote the event, or the position of its order''s previous event if that is later. Ids follow the creation of events, not the order of commits (decision 0027).';
comment on column events.sequence is 'Counts 1, 2, 3 … within an order; null for events that are not about an order.';
