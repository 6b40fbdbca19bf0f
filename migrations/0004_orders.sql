-- Orders, their lines and shipments, what happened to them, and what came back. Test orders are in the same tables, so that
-- the sandbox rehearses the real process. They have expires_at and are erased with all data that belongs to them.
--
-- Creation writes to orders, order_requests and order_lines. So each index of them costs every order: most of orders have a
-- condition that a new order does not meet. Foreign keys to a row that the same transaction has written or locked are left out, because a check costs as
-- much as an insert, and finds what the transaction knows (docs/design/database.md, "Foreign keys").

create table orders (
  merchant_id             uuid        not null,
  connection_id           uuid        not null,
  id                      uuid        not null,
  test_mode               boolean     not null,
  status                  text        not null,
  hold_reasons            text[]      not null,
  goods_minor             bigint      not null,
  currency                text        not null,
  country_code            text        not null,
  created_at              timestamptz not null,
  updated_at              timestamptz not null,
  changed_at              timestamptz not null,
  acceptance_due_at       timestamptz,
  expires_at              timestamptz,
  last_sequence           integer     not null,
  routed_at               timestamptz,
  first_routed_at         timestamptz,
  facility_id             uuid,
  has_unshipped           boolean     not null default true,
  canceled_at             timestamptz,
  personal_data_erased_at timestamptz,
  constraint orders_pkey primary key (merchant_id, id),
  constraint orders_connection_currency_fkey foreign key (merchant_id, connection_id, currency)
    references connections (merchant_id, id, currency),
  constraint orders_facility_fkey foreign key (facility_id) references facilities (id),
  constraint orders_status_known check (status in
    ('NEW', 'PROCESSING', 'ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'CANCELED', 'RETURNED')),
  constraint orders_settled_without_hold check (status not in ('COMPLETED', 'CANCELED', 'RETURNED') or hold_reasons = '{}'),
  constraint orders_test_orders_expire check (test_mode = (expires_at is not null)),
  constraint orders_test_orders_never_due check (not test_mode or acceptance_due_at is null),
  constraint orders_new_is_due check (status <> 'NEW' or test_mode or acceptance_due_at is not null),
  constraint orders_country_code_form check (country_code ~ '^[A-Z]{2}$'),
  constraint orders_goods_not_negative check (goods_minor >= 0),
  constraint orders_hold_reasons_not_null check (array_position(hold_reasons, null) is null),
  constraint orders_acceptance_due_later check (acceptance_due_at > created_at),
  constraint orders_expires_later check (expires_at >= created_at),
  constraint orders_canceled_since check (status <> 'CANCELED' or canceled_at is not null),
  constraint orders_facility_by_routing check (facility_id is null or routed_at is not null),
  constraint orders_last_sequence_positive check (last_sequence >= 1)
);
-- The worker looks for real orders past their deadline. The index contains only orders that are still NEW, without those whose
-- payment failed: these are not accepted (docs/design/lifecycle.md, "A failed payment is a hold").
create index orders_acceptance_due_idx on orders (connection_id, acceptance_due_at)
  where status = 'NEW' and not test_mode and not hold_reasons @> '{payment_failed}';
-- For the lists of the back office: the review queue, what can be shipped, what is done, and what is on hold. New
-- orders are found by orders_acceptance_due_idx, so that creating an order writes to neither of these.
create index orders_status_idx on orders (connection_id, status, id) where status <> 'NEW' and not test_mode;
create index orders_held_idx on orders (connection_id, id) where hold_reasons <> '{}' and not test_mode;
-- Test orders that are to be erased.
create index orders_expires_idx on orders (connection_id, expires_at) where test_mode;
-- Orders that routing must evaluate. An order whose payment failed waits for the payment. An order that routing holds waits for
-- stock or for a rate, and is evaluated again after a supply change (docs/design/fulfilment.md, "Waiting orders").
create index orders_routing_due_idx on orders (connection_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and not hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}';
-- Settled orders whose personal data is not erased yet, the oldest first. A settled order changes only by a return and by
-- updates of its shipments.
create index orders_personal_data_idx on orders (updated_at)
  where status in ('COMPLETED', 'CANCELED', 'RETURNED') and not test_mode and personal_data_erased_at is null;
-- The work list of a facility (docs/design/fulfilment.md, "Work list and pick lists"). Orders without a facility have the zero
-- UUID here, so that one index serves both.
create index orders_to_ship_idx on orders ((coalesce(facility_id, '00000000-0000-0000-0000-000000000000'::uuid)), id)
  where has_unshipped and routed_at is not null and status in ('ACCEPTED', 'IN_PROGRESS') and hold_reasons = '{}'
    and not test_mode;
-- For the lists of staff of named facilities (docs/design/people.md, "Facilities").
create index orders_facility_idx on orders (merchant_id, facility_id, id) where facility_id is not null;
-- Programs ask for the orders that have changed since a time, in the order of their changes
-- (docs/design/api-conventions.md, "Sorted by change"). The one index with a time that creation maintains.
create index orders_changed_idx on orders (merchant_id, changed_at, id);
-- Lets the list of orders that are ready to ship read these alone, and not all orders that are in progress: these include
-- orders that shipped long ago and were never completed. It has the condition of orders_to_ship_idx, which serves a facility.
create index orders_ready_idx on orders (connection_id, id)
  where has_unshipped and routed_at is not null and status in ('ACCEPTED', 'IN_PROGRESS') and hold_reasons = '{}'
    and not test_mode;
-- Orders that wait for stock or for a rate, by merchant: new goods are of one merchant, and only its orders are read
-- (docs/design/fulfilment.md, "Waiting orders").
create index orders_waiting_idx on orders (merchant_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and hold_reasons && '{out_of_stock,address_unserviceable}';
comment on table orders is 'The current state of orders, apart from what was ordered, in order_requests. Status and holds change only by the lifecycle (src/lifecycle/lifecycle.ts).';
comment on column orders.hold_reasons is 'Empty means not on hold.';
comment on column orders.goods_minor is 'What the merchant is charged for the goods, in minor units, fixed at creation.';
comment on column orders.country_code is 'Of the shipping address: lists and routing select by it.';
comment on column orders.updated_at is 'When the order itself last changed, as partners see it.';
comment on column orders.changed_at is 'When anything that the back office shows of the order last changed, charges, refunds and notes included.';
comment on column orders.acceptance_due_at is 'When the acceptance window of a real order closes; null if it never had one.';
comment on column orders.expires_at is 'When a test order is erased, earlier if that is requested; null for real orders.';
comment on column orders.last_sequence is 'Sequence of the order''s newest event; the next one takes it plus one, under the row''s lock.';
comment on column orders.routed_at is 'When the order was routed to a facility, or became ready to ship without one. It may be shipped from then on.';
comment on column orders.first_routed_at is 'When the order was routed first, if its address was corrected since and it had to be routed again. Null otherwise.';
comment on column orders.facility_id is 'Null also when the order was routed without any facility.';
comment on column orders.has_unshipped is 'Whether a line may be unshipped. False only if all lines have shipped; set by the transition that ships.';
comment on column orders.canceled_at is 'Kept when a shipment of the order comes back later: nothing of the order is owed any more.';
comment on column orders.personal_data_erased_at is 'When the address and the tracking were erased. Null while the order holds them.';

-- What the partner has sent with an order, and what the order is found by. Apart from orders, because it changes only by a corrected
-- address and by erasures, while every step of an order writes its row of orders, with an entry in each of its indexes
-- (docs/design/database.md, "An order is two rows").
create table order_requests (
  merchant_id       uuid  not null,
  order_id          uuid  not null,
  connection_id     uuid  not null,
  test_mode         boolean not null,
  external_order_id text,
  idempotency_key   text,
  request_hash      bytea not null,
  request_id        text,
  first_name        text  not null,
  last_name         text  not null,
  name              text,
  company           text,
  address1          text  not null,
  address2          text,
  city              text  not null,
  zip               text  not null,
  state_code        text,
  phone             text,
  note              text,
  metadata          json,
  words             text,
  constraint order_requests_pkey primary key (merchant_id, order_id),
  constraint order_requests_idempotency_key_key unique (idempotency_key, connection_id, merchant_id),
  constraint order_requests_external_order_id_key unique (external_order_id, connection_id, merchant_id),
  constraint order_requests_idempotency_key_length check (char_length(idempotency_key) between 1 and 255),
  constraint order_requests_external_order_id_length check (char_length(external_order_id) between 1 and 200),
  constraint order_requests_request_hash_is_sha256 check (octet_length(request_hash) = 32),
  constraint order_requests_key_unless_erasing check (idempotency_key is not null or test_mode),
  constraint order_requests_note_length check (char_length(note) between 1 and 1000),
  constraint order_requests_metadata_is_object check (json_typeof(metadata) = 'object'),
  constraint order_requests_request_id_length check (char_length(request_id) <= 100)
);
-- All orders of a connection in the order of their ids, whatever their status: for searches of partners and lists of staff
-- (docs/design/api-conventions.md, "Searching orders"). Every row satisfies the condition, and only these statements name it: before
-- a table has statistics, the planner would also choose the index for other look-ups.
create index order_requests_connection_idx on order_requests (connection_id, order_id)
  where order_id > '00000000-0000-0000-0000-000000000000';
-- The words that an order is found by (docs/design/api-conventions.md, "Searching orders"). New words are gathered in the list of the
-- index, and a job sorts them in. The last letters of the merchant are a word too, so that a merchant's search reads nothing of others.
-- The first index is for the newest orders, and finds the owner of an order, which a path names by its id alone.
create index order_requests_newest_idx on order_requests (order_id);
create index order_requests_words_idx on order_requests
  using gin (array_to_tsvector(string_to_array(words || ' @' || right(merchant_id::text, 8), ' ')));
comment on table order_requests is 'What was ordered, one row for each row of orders, written and deleted with it.';
comment on column order_requests.idempotency_key is 'The Idempotency-Key header, else external_order_id; one key space per connection. Null while a test order is being erased.';
comment on column order_requests.request_hash is 'SHA-256 of the normalized request: distinguishes a retry from a different request with the same key.';
comment on column order_requests.request_id is 'The x-request-id of the request that created the order.';
comment on column order_requests.note is 'The partner''s text for the people who handle the order; null if there is none.';
comment on column order_requests.metadata is 'The partner''s own data: text by key, sorted by key. Null stands for none.';
comment on column order_requests.words is 'Of the buyer''s name, company, city, postal code and phone, and numbers of the partner''s id: folded, each once, separated by spaces (src/orders/search-words.ts). A phone number is turned round, after a plus sign. Null since the personal data was erased.';

create table shipments (
  merchant_id     uuid        not null,
  order_id        uuid        not null,
  id              uuid        not null,
  status          text        not null,
  carrier         text,
  tracking_number text,
  scanned_tracking_number text,
  tracking_url    text,
  weight_grams    integer,
  created_at      timestamptz not null,
  shipped_at      timestamptz,
  handover_reported boolean   not null default false,
  delivered_at    timestamptz,
  constraint shipments_pkey primary key (merchant_id, order_id, id),
  constraint shipments_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade,
  constraint shipments_status_known check (status in ('pending', 'shipped', 'delivered', 'returned', 'voided')),
  constraint shipments_delivered_since_shipped check (delivered_at is null or shipped_at is not null),
  constraint shipments_weight_positive check (weight_grams > 0)
);
create index shipments_id_idx on shipments (id);
create index shipments_tracking_idx on shipments (lower(translate(tracking_number, ' -', ''))) where tracking_number is not null;
comment on table shipments is 'Shipments of an order; order_lines.shipment_id contains the shipment of each line.';
comment on column shipments.carrier is 'As the warehouse names it.';
comment on column shipments.scanned_tracking_number is 'What was scanned, if the tracking number was taken out of it; null otherwise.';
comment on column shipments.weight_grams is 'Weight of the parcel as the warehouse weighed it, in grams. Null if it was not weighed.';
comment on column shipments.shipped_at is 'When the service learned that the carrier has the shipment. Null while it is pending.';
comment on column shipments.handover_reported is 'A request has said that the carrier has it; tracking alone does not.';
comment on column shipments.delivered_at is 'When the warehouse reported that the recipient has the shipment. Null until then.';

-- Units of orders that could not be delivered, for the back office (docs/design/lifecycle.md, "Canceled lines"). Test orders have none.
create table line_cancellations (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  id           uuid        not null,
  reason       text        not null,
  note         text,
  refund_id    uuid,
  reference    text        not null,
  request_hash bytea       not null,
  actor_kind   text        not null,
  actor_name   text,
  actor_id     text,
  created_at   timestamptz not null,
  constraint line_cancellations_pkey primary key (merchant_id, order_id, id),
  constraint line_cancellations_reference_key unique (merchant_id, order_id, reference),
  constraint line_cancellations_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint line_cancellations_reason_known check (reason in
    ('out_of_stock', 'damaged', 'discontinued', 'buyer_request', 'other')),
  constraint line_cancellations_note_length check (char_length(note) between 1 and 1000),
  constraint line_cancellations_reference_length check (char_length(reference) between 1 and 255),
  constraint line_cancellations_actor_known check (actor_kind in ('operator', 'warehouse', 'merchant', 'service')),
  constraint line_cancellations_actor_id_length check (char_length(actor_id) <= 100)
);
comment on table line_cancellations is 'Cancellations of lines of real orders; order_lines.cancellation_id contains that of each canceled line. Rows are only added. Only the note ever changes: it is erased with the personal data of the order.';
comment on column line_cancellations.note is 'The caller''s own text. Null if there is none.';
comment on column line_cancellations.refund_id is 'The refund of the canceled goods. Null if nothing of them was left to refund.';
comment on column line_cancellations.reference is 'The caller''s name for the cancellation. An order has one for each reference.';
comment on column line_cancellations.request_hash is 'SHA-256 of what the request says, without the note. A retry has the same.';
comment on column line_cancellations.actor_kind is 'Who requested it, as in timeline_entries.';
comment on column line_cancellations.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

-- split_from is no foreign key: lines are deleted with their order only, and the erasure of test orders would pay for the check.
create table order_lines (
  merchant_id       uuid    not null,
  connection_id     uuid    not null,
  order_id          uuid    not null,
  id                uuid    not null,
  product_id        uuid    not null,
  quantity          integer not null,
  unit_price_minor  bigint  not null,
  split_from        uuid,
  shipment_id       uuid,
  returned_quantity integer not null default 0,
  cancellation_id   uuid,
  constraint order_lines_pkey primary key (merchant_id, order_id, id),
  constraint order_lines_shipment_fkey foreign key (merchant_id, order_id, shipment_id) references shipments (merchant_id, order_id, id),
  constraint order_lines_cancellation_fkey foreign key (merchant_id, order_id, cancellation_id)
    references line_cancellations (merchant_id, order_id, id),
  constraint order_lines_product_fkey foreign key (merchant_id, connection_id, product_id)
    references exposed_products (merchant_id, connection_id, product_id),
  constraint order_lines_quantity_in_range check (quantity between 1 and 100000),
  constraint order_lines_unit_price_not_negative check (unit_price_minor >= 0),
  constraint order_lines_returned_in_range check (returned_quantity between 0 and quantity),
  constraint order_lines_returned_was_shipped check (returned_quantity = 0 or shipment_id is not null),
  constraint order_lines_canceled_never_ships check (cancellation_id is null or shipment_id is null)
);
comment on table order_lines is 'Lines of an order, in the order of their ids. A line is in at most one shipment.';
comment on column order_lines.unit_price_minor is 'The product''s price when the order was created, in minor units of the order''s currency.';
comment on column order_lines.split_from is 'The line of the request that this line was split from; null for the lines of the request.';
comment on column order_lines.cancellation_id is 'The cancellation that ended the line, with all of its pieces. Null if none did.';
comment on column order_lines.returned_quantity is 'Pieces of the line that came back. Never more than its quantity, and none before it ships.';

create table timeline_entries (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  id           uuid        not null,
  operation    text        not null,
  actor_kind   text        not null,
  actor_name   text,
  actor_id     text,
  request_id   text,
  detail       text,
  shipment_id  uuid,
  status       text        not null,
  hold_reasons text[]      not null,
  created_at   timestamptz not null,
  constraint timeline_entries_pkey primary key (merchant_id, order_id, id),
  constraint timeline_entries_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id) on delete cascade,
  constraint timeline_entries_shipment_fkey foreign key (merchant_id, order_id, shipment_id)
    references shipments (merchant_id, order_id, id) on delete cascade,
  constraint timeline_entries_actor_known check (actor_kind in ('partner', 'operator', 'warehouse', 'merchant', 'service')),
  constraint timeline_entries_request_id_length check (char_length(request_id) <= 100),
  constraint timeline_entries_actor_id_length check (char_length(actor_id) <= 100)
);
comment on table timeline_entries is 'The timeline of an order: each transition and other operation since its creation, and who requested it. Rows are only added.';
comment on column timeline_entries.operation is 'The name of the transition, or of another operation, such as route.';
comment on column timeline_entries.actor_id is 'The id on the wire of the token that was used. Null if there was none.';
comment on column timeline_entries.request_id is 'The x-request-id of the request. Null if the service itself made the entry.';
comment on column timeline_entries.shipment_id is 'The shipment that was made or changed; null if none was.';
comment on column timeline_entries.status is 'Of the order after the operation, like hold_reasons.';

-- What came back and why, for the back office (docs/design/lifecycle.md, "Returns"). Test orders have no returns here.
create table order_returns (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  id           uuid        not null,
  reason       text,
  condition    text,
  note         text,
  restocked    boolean     not null,
  refund_id    uuid,
  reference    text,
  request_hash bytea,
  actor_kind   text        not null,
  actor_name   text,
  actor_id     text,
  created_at   timestamptz not null,
  constraint order_returns_pkey primary key (merchant_id, order_id, id),
  constraint order_returns_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint order_returns_reason_known check (reason in
    ('undeliverable', 'refused', 'unwanted', 'damaged', 'defective', 'wrong_item', 'not_as_described', 'other')),
  constraint order_returns_condition_known check (condition in ('unopened', 'opened', 'damaged', 'defective')),
  constraint order_returns_note_length check (char_length(note) between 1 and 1000),
  constraint order_returns_actor_known check (actor_kind in ('operator', 'warehouse', 'merchant', 'service')),
  constraint order_returns_actor_id_length check (char_length(actor_id) <= 100),
  constraint order_returns_reference_length check (char_length(reference) between 1 and 255),
  constraint order_returns_hash_with_reference check ((reference is null) = (request_hash is null))
);
create unique index order_returns_reference_key on order_returns (merchant_id, order_id, reference)
  where reference is not null;
-- A warehouse finds the order of a parcel by the reference on its return slip (docs/design/fulfilment.md, "Scanning").
create index order_returns_by_reference_idx on order_returns (reference) where reference is not null;
comment on table order_returns is 'Returns of real orders. Rows are only added. Only the note ever changes: it is erased with the personal data of the order.';
comment on column order_returns.reason is 'Why the goods came back; null if the request did not say.';
comment on column order_returns.condition is 'Of all returned goods; null if the request did not say.';
comment on column order_returns.note is 'The caller''s own text. Null if there is none.';
comment on column order_returns.restocked is 'The request added the goods to the stock of the facility that sent them.';
comment on column order_returns.refund_id is 'The refund of the same request; null if it requested none.';
comment on column order_returns.reference is 'The caller''s name for the return. An order has one return for each reference. Null if the caller gave none.';
comment on column order_returns.request_hash is 'SHA-256 of what the request says, without the note. A retry has the same. Null without a reference.';
comment on column order_returns.actor_kind is 'Who recorded it, as in timeline_entries.';
comment on column order_returns.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

create table order_return_lines (
  merchant_id uuid    not null,
  order_id    uuid    not null,
  return_id   uuid    not null,
  line_id     uuid    not null,
  quantity    integer not null,
  constraint order_return_lines_pkey primary key (merchant_id, order_id, return_id, line_id),
  constraint order_return_lines_return_fkey foreign key (merchant_id, order_id, return_id)
    references order_returns (merchant_id, order_id, id),
  constraint order_return_lines_line_fkey foreign key (merchant_id, order_id, line_id)
    references order_lines (merchant_id, order_id, id),
  constraint order_return_lines_quantity_positive check (quantity > 0)
);
comment on table order_return_lines is 'The pieces of lines that a return brought back.';

-- The overview shows how many orders of each day have which status. Their rows lie all over the table of orders, so counting a
-- million of them takes many seconds. A job counts each day from time to time, and keeps the figures here
-- (docs/design/console.md, "Overview"). No transition writes to these tables.
create table order_days (
  merchant_id uuid        not null,
  day         date        not null,
  counted_at  timestamptz not null,
  new         integer     not null,
  processing  integer     not null,
  accepted    integer     not null,
  in_progress integer     not null,
  completed   integer     not null,
  canceled    integer     not null,
  returned    integer     not null,
  constraint order_days_pkey primary key (merchant_id, day),
  constraint order_days_merchant_fkey foreign key (merchant_id) references merchants (id),
  constraint order_days_not_negative check (least(new, processing, accepted, in_progress, completed, canceled, returned) >= 0)
);
create index order_days_day_idx on order_days (day);
comment on table order_days is 'Real orders of a merchant by the day of their creation, with the status that they had when they were counted. A day without orders has no row.';
comment on column order_days.day is 'In UTC.';
comment on column order_days.counted_at is 'When the orders were counted. A later count replaces the row.';
comment on column order_days.new is 'Orders with the status NEW whose acceptance window was open. The columns that follow are those of the other statuses.';
comment on column order_days.processing is 'Orders with the status PROCESSING.';
comment on column order_days.accepted is 'Orders with the status ACCEPTED, and NEW ones whose acceptance window had closed.';
comment on column order_days.in_progress is 'Orders with the status IN_PROGRESS.';
comment on column order_days.completed is 'Orders with the status COMPLETED.';
comment on column order_days.canceled is 'Orders with the status CANCELED.';
comment on column order_days.returned is 'Orders with the status RETURNED.';

-- It belongs to no merchant, and has a row for each day of the last three months.
create table counted_days (
  day        date        not null,
  due_at     timestamptz not null,
  counted_at timestamptz,
  constraint counted_days_pkey primary key (day)
);
comment on table counted_days is 'The days whose orders are counted into order_days, and when that is due.';
comment on column counted_days.day is 'In UTC.';
comment on column counted_days.due_at is 'When the day is counted next. While a worker counts it, the time at which another worker may begin again.';
comment on column counted_days.counted_at is 'When the last complete count of all merchants began. Null until then: the figures of the day are not shown.';
