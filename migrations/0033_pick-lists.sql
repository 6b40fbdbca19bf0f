-- Pick lists: the orders that one person has taken from the work list of a facility, for a limited time (decision 0096).
-- A pick list can contain orders of many merchants, so pick_lists is a shared table, like facilities. What has been taken
-- belongs to the merchants of the orders.

create table pick_lists (
  id          uuid        not null,
  facility_id uuid,
  taken_by    text        not null,
  reference   text,
  order_limit integer     not null,
  taken_at    timestamptz not null,
  expires_at  timestamptz not null,
  released_at timestamptz,
  constraint pick_lists_pkey primary key (id),
  constraint pick_lists_reference_key unique (reference, taken_by),
  constraint pick_lists_taken_by_length check (char_length(taken_by) between 1 and 100),
  constraint pick_lists_reference_length check (char_length(reference) between 1 and 255),
  constraint pick_lists_order_limit_in_range check (order_limit between 1 and 100),
  constraint pick_lists_expires_later check (expires_at > taken_at)
);
create index pick_lists_expires_idx on pick_lists (expires_at);
comment on table pick_lists is 'Orders that a person has taken to pick and pack, until they expire or are released. Deleted 30 days after they expire.';
comment on column pick_lists.facility_id is 'The facility whose orders were taken; null for orders without a facility.';
comment on column pick_lists.taken_by is 'The person or the station that has taken the orders.';
comment on column pick_lists.reference is 'The client''s own name of the request: one person takes once for each.';
comment on column pick_lists.order_limit is 'How many orders were asked for.';
comment on column pick_lists.released_at is 'When the orders were given back; null if they were not.';

create table pick_list_orders (
  merchant_id   uuid        not null,
  order_id      uuid        not null,
  connection_id uuid        not null,
  pick_list_id  uuid        not null,
  expires_at    timestamptz not null,
  constraint pick_list_orders_pkey primary key (merchant_id, order_id),
  constraint pick_list_orders_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade
);
create index pick_list_orders_list_idx on pick_list_orders (pick_list_id, order_id);
create index pick_list_orders_expires_idx on pick_list_orders (expires_at);
comment on table pick_list_orders is 'The pick list that an order is on. The primary key lets one person at a time have an order.';
comment on column pick_list_orders.expires_at is 'As in pick_lists. From then on another person can take the order.';
