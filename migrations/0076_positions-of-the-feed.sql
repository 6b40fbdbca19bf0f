-- The feed gets positions of its own, counted for each connection when its events are first read (decision 0027). Before,
-- a position was a transaction id, which means nothing on another server: after a restore or a move, readers could miss
-- events. Code of the version before still writes and reads `feed_position`, without its index. A later version drops both.

create table event_feeds (
  merchant_id   uuid   not null,
  connection_id uuid   not null,
  last_position bigint not null,
  constraint event_feeds_pkey primary key (merchant_id, connection_id),
  constraint event_feeds_connection_fkey foreign key (merchant_id, connection_id)
    references connections (merchant_id, id)
);
comment on table event_feeds is 'The feed of each connection that has been read. Its lock decides which reader gives events their positions.';
comment on column event_feeds.last_position is 'Positions up to this one have been given. At least the time in microseconds at which they were given, so that positions go on after a restore of older data.';

alter table events
  add column position bigint not null default 9223372036854775807;
comment on column events.position is 'The place in the feed of the connection. The largest number until the feed has been read as far as this event.';

drop index events_feed_idx;
create index events_position_idx on events (connection_id, position, id);
