-- What has changed, for programs of merchants and warehouses that keep a copy of orders, products, stock and endpoints
-- (docs/design/event-feed.md, "The change feed of the back office"). A row is written in the transaction of its change, so no
-- change lacks its row, and no row lacks its change. It names objects and holds nothing of them.

-- Partitioned by day on the id itself, which is a UUIDv7, so that old days can be dropped whole. The service creates
-- partitions ahead of time (src/platform/database/day-partitions.ts). The position is in the primary key, so that an insert
-- maintains one index alone.
create table changes (
  merchant_id      uuid    not null,
  id               uuid    not null,
  connection_id    uuid,
  order_id         uuid,
  facility_id      uuid,
  left_facility_id uuid,
  kinds            text[]  not null,
  object_ids       uuid[]  not null,
  events           text[]  not null default '{}',
  is_gone          boolean not null default false,
  position         bigint  not null default 9223372036854775807,
  constraint changes_pkey primary key (merchant_id, position, id),
  constraint changes_kinds_known check (
    kinds <@ '{order,shipment,return,refund,charge,product,stock,endpoint}'),
  constraint changes_kinds_of_objects check (cardinality(kinds) >= 1 and cardinality(kinds) = cardinality(object_ids)),
  constraint changes_events_not_null check (array_position(events, null) is null)
) partition by range (id);
-- The feed of all merchants. Only numbering maintains it.
create index changes_numbered_idx on changes (position) where position < 9223372036854775807;
comment on table changes is 'What has changed of orders, products, stock and endpoints: a row for all changes of an order in one transaction, and for those of products or of stock. Not of test orders.';
comment on column changes.connection_id is 'The connection of the order or the endpoint. Null for products and stock.';
comment on column changes.order_id is 'The order that the objects belong to. Null for products, stock and endpoints.';
comment on column changes.facility_id is 'The facility that the order is routed to after the change, or of the stock. Null if there is none.';
comment on column changes.left_facility_id is 'The facility that the order was routed to before the change, if it is not any more.';
comment on column changes.kinds is 'What each of object_ids is. The id of stock is that of its product.';
comment on column changes.object_ids is 'The objects that have changed, each once.';
comment on column changes.events is 'What the change means to merchants and warehouses, such as order.held. Empty if nothing.';
comment on column changes.is_gone is 'The object was deleted, and is not found any more.';
comment on column changes.position is 'The place in the feed. The largest number until a reader has numbered it.';

-- It belongs to no merchant, and has one row as soon as the feed is read: a cursor is valid for the changes of all merchants.
create table change_feed (
  id               smallint not null,
  last_position    bigint   not null,
  dropped_position bigint   not null,
  unnumbered_from  uuid     not null,
  constraint change_feed_pkey primary key (id),
  constraint change_feed_single check (id = 1)
);
comment on table change_feed is 'How far the feed of changes is numbered. Its lock decides which reader gives changes their positions.';
comment on column change_feed.last_position is 'Positions up to this one have been given. At least the time in microseconds at which they were given, so that positions continue after a restore of older data.';
comment on column change_feed.dropped_position is 'A reader that has read less far may miss changes: they are older than 30 days, and were dropped.';
comment on column change_feed.unnumbered_from is 'All changes with a lower id have positions, so that earlier partitions need not be searched for others.';
