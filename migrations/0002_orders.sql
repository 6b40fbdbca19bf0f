-- Orders, their lines and shipments. Test orders are in the same tables, so that the sandbox rehearses the real process.
-- They have expires_at and are erased with all data that belongs to them.

create table orders (
  merchant_id       uuid        not null,
  connection_id     uuid        not null,
  id                uuid        not null,
  test_mode         boolean     not null,
  external_order_id text,
  idempotency_key   text        not null,
  request_hash      bytea       not null,
  status            text        not null,
  hold_reasons      text[]      not null,
  goods_minor       bigint      not null,
  currency          text        not null,
  first_name        text        not null,
  last_name         text        not null,
  name              text,
  company           text,
  address1          text        not null,
  address2          text,
  city              text        not null,
  zip               text        not null,
  state_code        text,
  country_code      text        not null,
  phone             text,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  acceptance_due_at timestamptz,
  expires_at        timestamptz,
  last_feed_position xid8       not null default pg_current_xact_id(),
  last_sequence     integer     not null,
  routed_at         timestamptz,
  facility_id       uuid,
  canceled_at       timestamptz,
  constraint orders_pkey primary key (merchant_id, id),
  constraint orders_idempotency_key_key unique (idempotency_key, connection_id, merchant_id),
  constraint orders_external_order_id_key unique (external_order_id, connection_id, merchant_id),
  constraint orders_connection_currency_fkey foreign key (merchant_id, connection_id, currency)
    references connections (merchant_id, id, currency),
  constraint orders_status_known check (status in
    ('NEW', 'PROCESSING', 'ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'CANCELED', 'RETURNED')),
  constraint orders_settled_without_hold check (status not in ('COMPLETED', 'CANCELED', 'RETURNED') or hold_reasons = '{}'),
  constraint orders_test_orders_expire check (test_mode = (expires_at is not null)),
  constraint orders_test_orders_never_due check (not test_mode or acceptance_due_at is null),
  constraint orders_new_is_due check (status <> 'NEW' or test_mode or acceptance_due_at is not null),
  constraint orders_idempotency_key_length check (char_length(idempotency_key) between 1 and 255),
  constraint orders_external_order_id_length check (char_length(external_order_id) between 1 and 200),
  constraint orders_request_hash_is_sha256 check (octet_length(request_hash) = 32),
  constraint orders_country_code_form check (country_code ~ '^[A-Z]{2}$'),
  constraint orders_goods_not_negative check (goods_minor >= 0),
  constraint orders_hold_reasons_not_null check (array_position(hold_reasons, null) is null),
  constraint orders_acceptance_due_later check (acceptance_due_at > created_at),
  constraint orders_expires_later check (expires_at > created_at),
  constraint orders_canceled_since check (status <> 'CANCELED' or canceled_at is not null),
  constraint orders_facility_by_routing check (facility_id is null or routed_at is not null),
  constraint orders_last_sequence_positive check (last_sequence >= 1)
);
-- The worker looks for real orders past their deadline. The index contains only orders that are still NEW, without those
-- whose payment failed: these are not accepted (decision 0011).
create index orders_acceptance_due_idx on orders (connection_id, acceptance_due_at)
  where status = 'NEW' and not test_mode and not hold_reasons @> '{payment_failed}';
-- For the lists of the back office: the review queue, what can be shipped, what is done, and what is on hold. New
-- orders are found by orders_acceptance_due_idx, so that creating an order writes to neither of these.
create index orders_status_idx on orders (connection_id, status, id) where status <> 'NEW' and not test_mode;
create index orders_held_idx on orders (connection_id, id) where hold_reasons <> '{}' and not test_mode;
create index orders_expires_idx on orders (connection_id, expires_at) where test_mode;
comment on table orders is 'The current state of orders. Status and holds change only by the lifecycle (src/lifecycle/lifecycle.ts).';
comment on column orders.idempotency_key is 'The Idempotency-Key header, else external_order_id; one key space per connection.';
comment on column orders.request_hash is 'SHA-256 of the normalized request: distinguishes a retry from a different request with the same key.';
comment on column orders.hold_reasons is 'Empty means not on hold.';
comment on column orders.goods_minor is 'What the merchant is charged for the goods, in minor units, fixed at creation.';
comment on column orders.acceptance_due_at is 'When the acceptance window of a real order closes; null if it never had one.';
comment on column orders.expires_at is 'When a test order is erased; null for real orders.';
comment on column orders.canceled_at is 'Kept when a shipment of the order comes back later: nothing of the order is owed any more.';
comment on column orders.routed_at is 'When the order was routed to a facility, or became ready to ship without one. It may be shipped from then on.';
comment on column orders.facility_id is 'Null also when the order was routed without any facility.';
comment on column orders.last_feed_position is 'No event of the order is at a later position of the feed (decision 0027). Changed under the row''s lock, like last_sequence.';
comment on column orders.last_sequence is 'Sequence of the order''s newest event; the next one takes it plus one, under the row''s lock.';

create table shipments (
  merchant_id     uuid        not null,
  order_id        uuid        not null,
  id              uuid        not null,
  status          text        not null,
  carrier         text,
  tracking_number text,
  tracking_url    text,
  created_at      timestamptz not null,
  constraint shipments_pkey primary key (merchant_id, order_id, id),
  constraint shipments_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade,
  constraint shipments_status_known check (status in ('pending', 'shipped', 'delivered', 'returned'))
);
comment on table shipments is 'Shipments of an order; order_lines.shipment_id contains the shipment of each line.';

create index shipments_id_idx on shipments (id);
comment on column shipments.carrier is 'As the warehouse names it.';

create table order_lines (
  merchant_id      uuid    not null,
  connection_id    uuid    not null,
  order_id         uuid    not null,
  id               uuid    not null,
  product_id       uuid    not null,
  quantity         integer not null,
  unit_price_minor bigint  not null,
  shipment_id      uuid,
  constraint order_lines_pkey primary key (merchant_id, order_id, id),
  constraint order_lines_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade,
  constraint order_lines_shipment_fkey foreign key (merchant_id, order_id, shipment_id) references shipments (merchant_id, order_id, id),
  constraint order_lines_product_fkey foreign key (merchant_id, connection_id, product_id)
    references exposed_products (merchant_id, connection_id, product_id),
  constraint order_lines_quantity_in_range check (quantity between 1 and 100000),
  constraint order_lines_unit_price_not_negative check (unit_price_minor >= 0)
);
comment on table order_lines is 'Lines of an order, in the order of their ids. A line is in at most one shipment.';
comment on column order_lines.unit_price_minor is 'The product''s price when the order was created, in minor units of the order''s currency.';

create table timeline_entries (
  merchant_id   uuid        not null,
  order_id      uuid        not null,
  id            uuid        not null,
  operation     text        not null,
  actor_kind    text        not null,
  actor_name    text,
  detail        text,
  shipment_id   uuid,
  status        text        not null,
  hold_reasons  text[]      not null,
  created_at    timestamptz not null,
  constraint timeline_entries_pkey primary key (merchant_id, order_id, id),
  constraint timeline_entries_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade,
  constraint timeline_entries_shipment_fkey foreign key (merchant_id, order_id, shipment_id)
    references shipments (merchant_id, order_id, id) on delete cascade,
  constraint timeline_entries_actor_known check (actor_kind in ('partner', 'operator', 'warehouse', 'merchant', 'service'))
);
comment on table timeline_entries is 'The timeline of an order: each transition and other operation since its creation, and who requested it. Rows are only added.';
comment on column timeline_entries.operation is 'The name of the transition, or of another operation, such as route.';
comment on column timeline_entries.shipment_id is 'The shipment that was made or changed; null if none was.';
comment on column timeline_entries.status is 'Of the order after the operation, like hold_reasons.';
