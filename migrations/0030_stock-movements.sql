-- The history of stock (decision 0094): a row for every change of a quantity on hand, written in the transaction of the
-- change. So the present quantity can be explained, and an adjustment that is sent twice is made once.

create table stock_movements (
  merchant_id uuid        not null,
  id          uuid        not null,
  facility_id uuid        not null,
  product_id  uuid        not null,
  kind        text        not null,
  difference  integer     not null,
  on_hand     integer     not null,
  reason      text,
  note        text,
  reference   text,
  order_id    uuid,
  actor_kind  text        not null,
  actor_name  text,
  created_at  timestamptz not null,
  constraint stock_movements_pkey primary key (merchant_id, id),
  constraint stock_movements_kind_known check (kind in ('set', 'adjusted', 'shipped', 'returned')),
  constraint stock_movements_difference_not_zero check (difference <> 0),
  constraint stock_movements_on_hand_not_negative check (on_hand >= 0),
  constraint stock_movements_reason_of_adjustment check ((reason is not null) = (kind = 'adjusted')),
  constraint stock_movements_order_of_shipments check ((order_id is not null) = (kind in ('shipped', 'returned'))),
  constraint stock_movements_note_length check (char_length(note) <= 500),
  constraint stock_movements_reference_length check (char_length(reference) between 1 and 255)
);
create unique index stock_movements_reference_key on stock_movements (merchant_id, facility_id, product_id, reference)
  where reference is not null;
create index stock_movements_facility_idx on stock_movements (facility_id, id);
create index stock_movements_product_idx on stock_movements (product_id, facility_id, id);
comment on table stock_movements is 'Changes of quantities on hand. Rows are only added, and deleted when they are older than two years.';
comment on column stock_movements.id is 'A UUIDv7: sorts by time.';
comment on column stock_movements.kind is 'set: counted by hand; adjusted: changed by a difference; shipped, returned: by an order.';
comment on column stock_movements.difference is 'In pieces; negative if they left.';
comment on column stock_movements.on_hand is 'On hand after the movement, in pieces.';
comment on column stock_movements.reason is 'Why the quantity was adjusted; null for other kinds.';
comment on column stock_movements.reference is 'The client''s own name of an adjustment: one with the same reference is made once.';
comment on column stock_movements.order_id is 'The order that shipped or came back; null for other kinds.';
