-- Facts that are published to partners. An event is written in the transaction of its cause, with its body frozen as
-- text. So no event is published for a change that was rolled back, and no change lacks its event.

-- Partitioned by day on the id itself, which is a UUIDv7, so that old days can be dropped whole. The service creates
-- partitions ahead of time (src/platform/database/day-partitions.ts). There is no foreign key to orders: dropping a
-- partition would lock that table. The erasure of a test order deletes its events in the same transaction.
create table events (
  merchant_id   uuid   not null,
  connection_id uuid   not null,
  id            uuid   not null,
  type          text   not null,
  order_id      uuid,
  sequence      integer,
  body          text   not null,
  not_after     timestamptz,
  position      bigint not null default 9223372036854775807,
  constraint events_pkey primary key (merchant_id, id),
  constraint events_sequence_of_orders check ((order_id is null) = (sequence is null)),
  constraint events_sequence_positive check (sequence >= 1)
) partition by range (id);
create index events_order_idx on events (order_id, sequence) where order_id is not null;
create index events_position_idx on events (connection_id, position, id);
comment on table events is 'Every event of every connection, oldest first by id.';
comment on column events.sequence is 'Counts 1, 2, 3 … within an order; null for events that are not about an order.';
comment on column events.body is 'The exact JSON text that is delivered and signed; text, because jsonb would reorder it.';
comment on column events.not_after is 'When a test order is erased. From then on its events are not shown.';
comment on column events.position is 'The place in the feed of the connection. The largest number until the feed has been read as far as this event.';

-- The feed has positions of its own, counted for each connection when its events are first read
-- (docs/design/event-feed.md, "Positions when read"). A transaction id would mean nothing on another server: after a restore or
-- a move, readers could miss events.
create table event_feeds (
  merchant_id   uuid   not null,
  connection_id uuid   not null,
  last_position bigint not null,
  constraint event_feeds_pkey primary key (merchant_id, connection_id),
  constraint event_feeds_connection_fkey foreign key (merchant_id, connection_id)
    references connections (merchant_id, id)
);
comment on table event_feeds is 'The feed of each connection that has been read. Its lock decides which reader gives events their positions.';
comment on column event_feeds.last_position is 'Positions up to this one have been given. At least the time in microseconds at which they were given, so that positions continue after a restore of older data.';
