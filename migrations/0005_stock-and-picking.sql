-- The stock of merchants at facilities, the stock reserved for orders
-- (docs/design/fulfilment.md, "Stock", "Waiting orders" and "Routing in batches"), and the orders that people have taken from
-- the work list to pick and pack (docs/design/fulfilment.md, "Work list and pick lists"). Stock belongs to the merchant of its
-- product.

create table stocked_products (
  merchant_id      uuid not null,
  product_id       uuid not null,
  supply_change_id uuid,
  constraint stocked_products_pkey primary key (merchant_id, product_id),
  constraint stocked_products_product_fkey foreign key (merchant_id, product_id) references products (merchant_id, id)
);
create index stocked_products_supply_change_idx on stocked_products (product_id) where supply_change_id is not null;
comment on table stocked_products is 'Products with a stock record at any facility; all others are made to order. A transaction that changes stock first locks the rows of its products here, in the order of their ids.';
comment on column stocked_products.supply_change_id is 'A new id whenever more of the product becomes available: waiting orders must be evaluated again. Null once that is done.';

-- Each order that is routed or shipped changes the stock of its products. With room in the page the new version of a row
-- stays beside the old one, and no index changes.
create table facility_stock (
  merchant_id uuid        not null,
  facility_id uuid        not null,
  product_id  uuid        not null,
  on_hand     integer     not null,
  reserved    integer     not null,
  updated_at  timestamptz not null,
  constraint facility_stock_pkey primary key (merchant_id, facility_id, product_id),
  constraint facility_stock_facility_fkey foreign key (facility_id) references facilities (id),
  constraint facility_stock_product_fkey foreign key (merchant_id, product_id) references stocked_products (merchant_id, product_id),
  constraint facility_stock_reserved_in_range check (reserved between 0 and on_hand)
) with (fillfactor = 70);
create index facility_stock_product_idx on facility_stock (merchant_id, product_id, facility_id);
-- The list of all merchants' stock at a facility. Only a product's first stock there adds an entry.
create index facility_stock_facility_idx on facility_stock (facility_id, product_id);
comment on table facility_stock is 'Quantity of a product at a facility. on_hand minus reserved is available for new orders.';
comment on column facility_stock.reserved is 'Sum of stock_reservations: reserved for lines that have not shipped.';

create table stock_reservations (
  merchant_id uuid    not null,
  order_id    uuid    not null,
  line_id     uuid    not null,
  facility_id uuid    not null,
  product_id  uuid    not null,
  quantity    integer not null,
  constraint stock_reservations_pkey primary key (merchant_id, order_id, line_id),
  constraint stock_reservations_line_fkey foreign key (merchant_id, order_id, line_id)
    references order_lines (merchant_id, order_id, id),
  constraint stock_reservations_quantity_positive check (quantity > 0)
);
comment on table stock_reservations is 'Stock reserved for an order line, from the routing of its order until the line ships or the order is settled. The same transaction adds it to facility_stock.reserved. The foreign key prevents deleting a line whose stock is still reserved.';

-- The history of stock (docs/design/fulfilment.md, "Stock"): a row for every change of a quantity on hand, written in the
-- transaction of the change. So the present quantity can be explained, and an adjustment that is sent twice is made once.
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
  actor_id    text,
  created_at  timestamptz not null,
  constraint stock_movements_pkey primary key (merchant_id, id),
  constraint stock_movements_kind_known check (kind in ('set', 'adjusted', 'shipped', 'returned', 'voided')),
  constraint stock_movements_difference_not_zero check (difference <> 0),
  constraint stock_movements_on_hand_not_negative check (on_hand >= 0),
  constraint stock_movements_reason_of_adjustment check ((reason is not null) = (kind = 'adjusted')),
  constraint stock_movements_order_of_shipments check ((order_id is not null) = (kind in ('shipped', 'returned', 'voided'))),
  constraint stock_movements_note_length check (char_length(note) <= 500),
  constraint stock_movements_reference_length check (char_length(reference) between 1 and 255),
  constraint stock_movements_actor_id_length check (char_length(actor_id) <= 100)
);
create unique index stock_movements_reference_key on stock_movements (merchant_id, facility_id, product_id, reference)
  where reference is not null;
create index stock_movements_facility_idx on stock_movements (facility_id, id);
create index stock_movements_product_idx on stock_movements (product_id, facility_id, id);
comment on table stock_movements is 'Changes of quantities on hand. Rows are only added, and deleted when they are older than two years.';
comment on column stock_movements.id is 'A UUIDv7: sorts by time.';
comment on column stock_movements.kind is 'set: counted by hand; adjusted: changed by a difference; shipped, returned, voided: by an order.';
comment on column stock_movements.difference is 'In pieces; negative if they left.';
comment on column stock_movements.on_hand is 'On hand after the movement, in pieces.';
comment on column stock_movements.reason is 'Why the quantity was adjusted; null for other kinds.';
comment on column stock_movements.reference is 'The client''s own name of an adjustment: one with the same reference is made once.';
comment on column stock_movements.order_id is 'The order that shipped, came back, or had a shipment voided; null for other kinds.';
comment on column stock_movements.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

-- The orders that one person has taken from the work list of a facility, for a limited time. A pick list can contain orders of
-- many merchants, so pick_lists is a shared table, like facilities. What has been taken belongs to the merchants of the orders.
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
comment on column pick_lists.order_limit is 'How many orders were requested.';
comment on column pick_lists.released_at is 'When the orders were given back; null if they were not.';

create table pick_list_orders (
  merchant_id   uuid        not null,
  order_id      uuid        not null,
  connection_id uuid        not null,
  pick_list_id  uuid        not null,
  taken_at      timestamptz not null,
  expires_at    timestamptz not null,
  box           integer     not null,
  constraint pick_list_orders_pkey primary key (merchant_id, order_id),
  constraint pick_list_orders_box_positive check (box > 0),
  constraint pick_list_orders_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade
);
create index pick_list_orders_list_idx on pick_list_orders (pick_list_id, order_id);
create index pick_list_orders_expires_idx on pick_list_orders (expires_at);
comment on table pick_list_orders is 'The pick list that an order is on. The primary key lets one person at a time have an order.';
comment on column pick_list_orders.box is 'The box that its goods are picked into, from 1 on each pick list. It stays when others have shipped.';
comment on column pick_list_orders.taken_at is 'As in pick_lists.';
comment on column pick_list_orders.expires_at is 'As in pick_lists. From then on another person can take the order.';

-- Orders that lie beside a packing table. An order stays on the work list, but is not taken with the oldest.
create table put_aside_orders (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  reason       text        not null,
  actor_name   text        not null,
  put_aside_at timestamptz not null,
  constraint put_aside_orders_pkey primary key (merchant_id, order_id),
  constraint put_aside_orders_reason_known check (reason in ('missing', 'damaged', 'packaging', 'question', 'other')),
  constraint put_aside_orders_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade
);
create index put_aside_orders_at_idx on put_aside_orders (put_aside_at);
comment on table put_aside_orders is 'Orders that a person has put aside while packing, until a person takes them up again. Deleted after 30 days.';
comment on column put_aside_orders.reason is 'Why it was put aside.';
comment on column put_aside_orders.actor_name is 'The person who put it aside.';
