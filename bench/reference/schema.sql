-- What PostgreSQL alone stores for new orders in the benchmark of creation: the tables with their keys, checks and indexes,
-- as the service's schema had them when this reference was frozen. It never follows the schema: if the service stores less
-- or more than before, its figures show it, and figures of different times can be compared.
--
-- Tables that rows only may reference have the columns of the reference alone.

create table facilities (id uuid primary key);
create table stripe_methods (merchant_id uuid not null, id uuid not null, primary key (merchant_id, id));
create table refunds (
  merchant_id uuid not null, order_id uuid not null, id uuid not null, primary key (merchant_id, order_id, id)
);

create table merchants (
  id uuid not null,
  name text not null,
  account_email text not null,
  currency text not null,
  credit_limit_minor bigint,
  complete_when_shipped boolean default false not null,
  created_at timestamptz not null,
  constraint merchants_credit_limit_not_negative check ((credit_limit_minor >= 0)),
  constraint merchants_currency_form check ((currency ~ '^[A-Z]{3}$')),
  constraint merchants_name_length check (((char_length(name) >= 1) and (char_length(name) <= 255)))
);

create table connections (
  merchant_id uuid not null,
  id uuid not null,
  currency text not null,
  name text not null,
  review_max_quantity integer,
  review_max_order_value_minor bigint,
  review_countries text[],
  created_at timestamptz not null,
  limits jsonb default '{}'::jsonb not null,
  last_endpoint_number integer default 0 not null,
  constraint connections_last_endpoint_number_not_negative check ((last_endpoint_number >= 0)),
  constraint connections_limits_object check ((jsonb_typeof(limits) = 'object')),
  constraint connections_name_length check (((char_length(name) >= 1) and (char_length(name) <= 255))),
  constraint connections_review_countries_form check ((array_to_string(review_countries, ',', '-') ~ '^([A-Z]{2}(,[A-Z]{2})*)?$')),
  constraint connections_review_max_order_value_not_negative check ((review_max_order_value_minor >= 0)),
  constraint connections_review_max_quantity_positive check ((review_max_quantity >= 1))
);

create table products (
  merchant_id uuid not null,
  id uuid not null,
  sku text not null,
  name text not null,
  description text,
  image_url text,
  weight_grams integer,
  price_minor bigint not null,
  currency text not null,
  status text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  barcode text,
  constraint products_barcode_length check (((char_length(barcode) >= 1) and (char_length(barcode) <= 100))),
  constraint products_name_length check (((char_length(name) >= 1) and (char_length(name) <= 255))),
  constraint products_price_in_range check (((price_minor >= 0) and (price_minor <= '100000000000'::bigint))),
  constraint products_sku_length check (((char_length(sku) >= 1) and (char_length(sku) <= 255))),
  constraint products_status_known check ((status in ('active', 'discontinued'))),
  constraint products_weight_not_negative check ((weight_grams >= 0))
);

create table exposed_products (
  merchant_id uuid not null,
  connection_id uuid not null,
  product_id uuid not null,
  exposed_at timestamptz not null,
  withdrawn_at timestamptz
);

create table orders (
  merchant_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  test_mode boolean not null,
  external_order_id text,
  idempotency_key text,
  request_hash bytea not null,
  status text not null,
  hold_reasons text[] not null,
  goods_minor bigint not null,
  currency text not null,
  first_name text not null,
  last_name text not null,
  name text,
  company text,
  address1 text not null,
  address2 text,
  city text not null,
  zip text not null,
  state_code text,
  country_code text not null,
  phone text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  acceptance_due_at timestamptz,
  expires_at timestamptz,
  last_sequence integer not null,
  routed_at timestamptz,
  facility_id uuid,
  canceled_at timestamptz,
  personal_data_erased_at timestamptz,
  note text,
  metadata json,
  first_routed_at timestamptz,
  has_unshipped boolean default true not null,
  request_id text,
  constraint orders_acceptance_due_later check ((acceptance_due_at > created_at)),
  constraint orders_canceled_since check (((status <> 'CANCELED') or (canceled_at is not null))),
  constraint orders_country_code_form check ((country_code ~ '^[A-Z]{2}$')),
  constraint orders_expires_later check ((expires_at > created_at)),
  constraint orders_external_order_id_length check (((char_length(external_order_id) >= 1) and (char_length(external_order_id) <= 200))),
  constraint orders_facility_by_routing check (((facility_id is null) or (routed_at is not null))),
  constraint orders_goods_not_negative check ((goods_minor >= 0)),
  constraint orders_hold_reasons_not_null check ((array_position(hold_reasons, null::text) is null)),
  constraint orders_idempotency_key_length check (((char_length(idempotency_key) >= 1) and (char_length(idempotency_key) <= 255))),
  constraint orders_key_unless_erasing check (((idempotency_key is not null) or test_mode)),
  constraint orders_last_sequence_positive check ((last_sequence >= 1)),
  constraint orders_new_is_due check (((status <> 'NEW') or test_mode or (acceptance_due_at is not null))),
  constraint orders_request_hash_is_sha256 check ((octet_length(request_hash) = 32)),
  constraint orders_settled_without_hold check (((status not in ('COMPLETED', 'CANCELED', 'RETURNED')) or (hold_reasons = '{}'))),
  constraint orders_status_known check ((status in ('NEW', 'PROCESSING', 'ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'CANCELED', 'RETURNED'))),
  constraint orders_test_orders_expire check ((test_mode = (expires_at is not null))),
  constraint orders_test_orders_never_due check (((not test_mode) or (acceptance_due_at is null)))
);

create table shipments (
  merchant_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  status text not null,
  carrier text,
  tracking_number text,
  tracking_url text,
  created_at timestamptz not null,
  shipped_at timestamptz,
  delivered_at timestamptz,
  weight_grams integer,
  constraint shipments_delivered_since_shipped check (((delivered_at is null) or (shipped_at is not null))),
  constraint shipments_status_known check ((status in ('pending', 'shipped', 'delivered', 'returned')))
);

create table order_lines (
  merchant_id uuid not null,
  connection_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  product_id uuid not null,
  quantity integer not null,
  unit_price_minor bigint not null,
  shipment_id uuid,
  split_from uuid,
  returned_quantity integer default 0 not null,
  constraint order_lines_quantity_in_range check (((quantity >= 1) and (quantity <= 100000))),
  constraint order_lines_returned_in_range check (((returned_quantity >= 0) and (returned_quantity <= quantity))),
  constraint order_lines_returned_was_shipped check (((returned_quantity = 0) or (shipment_id is not null))),
  constraint order_lines_unit_price_not_negative check ((unit_price_minor >= 0))
);

create table events (
  merchant_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  type text not null,
  order_id uuid,
  sequence integer,
  body text not null,
  not_after timestamptz,
  position bigint default '9223372036854775807'::bigint not null,
  constraint events_sequence_of_orders check (((order_id is null) = (sequence is null))),
  constraint events_sequence_positive check ((sequence >= 1))
)
partition by range (id);

create table ledger_entries (
  merchant_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  kind text not null,
  attempt integer not null,
  refund_of uuid,
  amount_minor bigint not null,
  created_at timestamptz not null,
  refund_id uuid,
  request_id text,
  constraint ledger_entries_amount_positive check ((amount_minor > 0)),
  constraint ledger_entries_attempt_positive check ((attempt >= 1)),
  constraint ledger_entries_first_charge_has_order_id check ((((kind = 'goods') and (attempt = 1)) = (id = order_id))),
  constraint ledger_entries_kind_known check ((kind in ('goods', 'shipping', 'refund'))),
  constraint ledger_entries_refund_id_refunds check (((refund_id is null) or (kind = 'refund'))),
  constraint ledger_entries_refund_of_refunds check (((kind = 'refund') = (refund_of is not null)))
);

create table due_payments (
  merchant_id uuid not null,
  connection_id uuid not null,
  order_id uuid not null,
  entry_id uuid not null,
  due_at timestamptz not null,
  attempt_count integer not null,
  first_attempted_at timestamptz,
  claim_id uuid,
  leased_until timestamptz,
  recheck_requested boolean not null,
  gateway text,
  stripe_method_id uuid,
  gateway_reference text,
  constraint due_payments_attempt_count_not_negative check ((attempt_count >= 0)),
  constraint due_payments_attempted_at_a_gateway check (((attempt_count = 0) or (gateway is not null))),
  constraint due_payments_attempted_since check ((((attempt_count = 0) = (first_attempted_at is null)) and ((attempt_count = 0) = (claim_id is null)))),
  constraint due_payments_gateway_known check ((gateway in ('account', 'stripe')))
)
with (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000');

alter table connections add constraint connections_id_currency_key unique (merchant_id, id, currency);
alter table connections add constraint connections_pkey primary key (merchant_id, id);
alter table due_payments add constraint due_payments_pkey primary key (merchant_id, order_id, entry_id);
alter table events add constraint events_pkey primary key (merchant_id, id);
alter table exposed_products add constraint exposed_products_pkey primary key (merchant_id, connection_id, product_id);
alter table ledger_entries add constraint ledger_entries_pkey primary key (merchant_id, order_id, id);
alter table ledger_entries add constraint ledger_entries_request_id_length check ((char_length(request_id) <= 100));
alter table merchants add constraint merchants_id_currency_key unique (id, currency);
alter table merchants add constraint merchants_pkey primary key (id);
alter table order_lines add constraint order_lines_pkey primary key (merchant_id, order_id, id);
alter table orders add constraint orders_external_order_id_key unique (external_order_id, connection_id, merchant_id);
alter table orders add constraint orders_idempotency_key_key unique (idempotency_key, connection_id, merchant_id);
alter table orders add constraint orders_metadata_is_object check ((json_typeof(metadata) = 'object'));
alter table orders add constraint orders_note_length check (((char_length(note) >= 1) and (char_length(note) <= 1000)));
alter table orders add constraint orders_pkey primary key (merchant_id, id);
alter table orders add constraint orders_request_id_length check ((char_length(request_id) <= 100));
alter table products add constraint products_pkey primary key (merchant_id, id);
alter table shipments add constraint shipments_pkey primary key (merchant_id, order_id, id);
alter table shipments add constraint shipments_weight_positive check ((weight_grams > 0));
create index connections_id_idx on connections (id);
create index due_payments_due_idx on due_payments (connection_id, due_at);
create index events_order_idx on events (order_id, sequence) where (order_id is not null);
create index events_position_idx on events (connection_id, position, id);
create index exposed_products_product_id_idx on exposed_products (merchant_id, product_id);
create unique index ledger_entries_attempt_of_refund_key on ledger_entries (merchant_id, order_id, kind, refund_of, refund_id, attempt) nulls not distinct where ((kind <> 'goods') or (attempt > 1));
create index ledger_entries_id_idx on ledger_entries (id) where ((kind <> 'goods') or (attempt > 1));
create index orders_acceptance_due_idx on orders (connection_id, acceptance_due_at) where ((status = 'NEW') and (not test_mode) and (not (hold_reasons @> '{payment_failed}')));
create index orders_company_idx on orders (merchant_id, lower(company) text_pattern_ops) where (company is not null);
create index orders_expires_idx on orders (connection_id, expires_at) where test_mode;
create index orders_facility_idx on orders (merchant_id, facility_id, id) where (facility_id is not null);
create index orders_held_idx on orders (connection_id, id) where ((hold_reasons <> '{}') and (not test_mode));
create index orders_name_idx on orders (merchant_id, lower(((last_name || ' ') || first_name)) text_pattern_ops) where (created_at > '-infinity'::timestamptz);
create index orders_personal_data_idx on orders (updated_at) where ((status in ('COMPLETED', 'CANCELED', 'RETURNED')) and (not test_mode) and (personal_data_erased_at is null));
create index orders_ready_idx on orders (connection_id, id) where (has_unshipped and (routed_at is not null) and (status in ('ACCEPTED', 'IN_PROGRESS')) and (hold_reasons = '{}') and (not test_mode));
create index orders_routing_due_idx on orders (connection_id, id) where ((status = 'ACCEPTED') and (not test_mode) and (routed_at is null) and (not (hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}')));
create index orders_search_idx on orders (connection_id, id) where (created_at > '-infinity'::timestamptz);
create index orders_status_idx on orders (connection_id, status, id) where ((status <> 'NEW') and (not test_mode));
create index orders_to_ship_idx on orders (coalesce(facility_id, '00000000-0000-0000-0000-000000000000'::uuid), id) where (has_unshipped and (routed_at is not null) and (status in ('ACCEPTED', 'IN_PROGRESS')) and (hold_reasons = '{}') and (not test_mode));
create index orders_waiting_idx on orders (merchant_id, id) where ((status = 'ACCEPTED') and (not test_mode) and (routed_at is null) and (hold_reasons && '{out_of_stock,address_unserviceable}'));
create unique index products_barcode_key on products (merchant_id, barcode) where (barcode is not null);
create index products_id_idx on products (id);
create index products_sku_idx on products (merchant_id, sku, id);
create index shipments_id_idx on shipments (id);
create index shipments_tracking_idx on shipments (lower(tracking_number)) where (tracking_number is not null);

alter table connections add constraint connections_merchant_currency_fkey foreign key (merchant_id, currency) references merchants(id, currency);
alter table due_payments add constraint due_payments_stripe_method_fkey foreign key (merchant_id, stripe_method_id) references stripe_methods(merchant_id, id);
alter table exposed_products add constraint exposed_products_connection_fkey foreign key (merchant_id, connection_id) references connections(merchant_id, id);
alter table exposed_products add constraint exposed_products_product_fkey foreign key (merchant_id, product_id) references products(merchant_id, id);
alter table ledger_entries add constraint ledger_entries_refund_fkey foreign key (merchant_id, order_id, refund_id) references refunds(merchant_id, order_id, id);
alter table ledger_entries add constraint ledger_entries_refund_of_fkey foreign key (merchant_id, order_id, refund_of) references ledger_entries(merchant_id, order_id, id);
alter table order_lines add constraint order_lines_product_fkey foreign key (merchant_id, connection_id, product_id) references exposed_products(merchant_id, connection_id, product_id);
alter table order_lines add constraint order_lines_shipment_fkey foreign key (merchant_id, order_id, shipment_id) references shipments(merchant_id, order_id, id);
alter table orders add constraint orders_connection_currency_fkey foreign key (merchant_id, connection_id, currency) references connections(merchant_id, id, currency);
alter table orders add constraint orders_facility_fkey foreign key (facility_id) references facilities(id);
alter table products add constraint products_merchant_currency_fkey foreign key (merchant_id, currency) references merchants(id, currency);
alter table shipments add constraint shipments_order_fkey foreign key (merchant_id, order_id) references orders(merchant_id, id) on delete cascade;

-- A partition for each day, as the service makes them: from yesterday on, for two weeks. The bounds are UUIDs of version 7.
do $$
declare
  day timestamptz := date_trunc('day', now(), 'UTC');
begin
  for n in -1..14 loop
    execute format('create table events_%s (like events including all)', n + 1);
    execute format(
      'alter table events attach partition events_%s for values from (%L) to (%L)', n + 1,
      (rpad(lpad(to_hex((extract(epoch from day + n * interval '24 hours') * 1000)::bigint), 12, '0'), 32, '0'))::uuid,
      (rpad(lpad(to_hex((extract(epoch from day + (n + 1) * interval '24 hours') * 1000)::bigint), 12, '0'), 32, '0'))::uuid);
  end loop;
end
$$;

-- One partner who may order two products.
insert into merchants (id, name, account_email, currency, created_at)
values ('00000000-0000-7000-8000-000000000001', 'Merchant', 'merchant@example.com', 'EUR', now());
insert into connections (merchant_id, id, currency, name, created_at)
select id, '00000000-0000-7000-8000-000000000002', currency, 'Partner', now() from merchants;
insert into products (merchant_id, id, sku, name, price_minor, currency, status, created_at, updated_at)
select m.id, p.id, p.sku, p.sku, 1500, m.currency, 'active', now(), now()
from merchants m,
     (values ('00000000-0000-7000-8000-000000000003'::uuid, 'SKU-0'), ('00000000-0000-7000-8000-000000000004', 'SKU-1')) p (id, sku);
insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
select c.merchant_id, c.id, p.id, now() from connections c, products p;
