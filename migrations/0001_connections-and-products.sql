-- Merchants, their connections to partners, the keys of those connections, and the products that a merchant exposes to
-- a connection.
--
-- Ready for distribution by merchant (decision 0054): rows of a merchant have the merchant's id first in every key.
-- The few shared tables (api_keys, facilities) do not, and do not reference distributed ones.

create table merchants (
  id            uuid        not null,
  name          text        not null,
  account_email text        not null,
  currency      text        not null,
  credit_limit_minor bigint,
  complete_when_shipped boolean not null default false,
  created_at    timestamptz not null,
  constraint merchants_pkey primary key (id),
  constraint merchants_id_currency_key unique (id, currency),
  constraint merchants_name_length check (char_length(name) between 1 and 255),
  constraint merchants_currency_form check (currency ~ '^[A-Z]{3}$'),
  constraint merchants_credit_limit_not_negative check (credit_limit_minor >= 0)
);
comment on table merchants is 'Companies that expose their products to partners and are charged for orders.';
comment on column merchants.account_email is 'Address for mails with carrier tracking.';
comment on column merchants.currency is 'ISO 4217; every price and charge of the merchant is in it.';
comment on column merchants.complete_when_shipped is 'The service completes orders once every line has shipped and every charge is paid.';
comment on column merchants.credit_limit_minor is 'Limit of what the merchant may owe, in minor units; null means unlimited.';

create table connections (
  merchant_id uuid        not null,
  id          uuid        not null,
  currency    text        not null,
  name        text        not null,
  review_max_quantity          integer,
  review_max_order_value_minor bigint,
  review_countries             text[],
  created_at  timestamptz not null,
  constraint connections_pkey primary key (merchant_id, id),
  constraint connections_id_currency_key unique (merchant_id, id, currency),
  constraint connections_merchant_currency_fkey foreign key (merchant_id, currency) references merchants (id, currency),
  constraint connections_name_length check (char_length(name) between 1 and 255),
  constraint connections_review_max_quantity_positive check (review_max_quantity >= 1),
  constraint connections_review_max_order_value_not_negative check (review_max_order_value_minor >= 0),
  constraint connections_review_countries_form check (array_to_string(review_countries, ',', '-') ~ '^([A-Z]{2}(,[A-Z]{2})*)?$')
);
create index connections_id_idx on connections (id);
comment on table connections is 'One partner''s access to one merchant. Everything a partner sees belongs to one connection.';
comment on column connections.currency is 'The merchant''s currency, repeated here so that a foreign key keeps orders in it.';
comment on column connections.review_max_quantity is 'Review policy: an order with more units needs review; null means no limit.';
comment on column connections.review_max_order_value_minor is 'Review policy: an order with a higher value, in minor units of the merchant''s currency, needs review; null means no limit.';
comment on column connections.review_countries is 'Review policy: an order to a country outside this list needs review; null means any country.';

create table api_keys (
  key_hash      bytea       not null,
  id            uuid        not null,
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  name          text,
  prefix        text        not null,
  created_at    timestamptz not null,
  expires_at    timestamptz,
  revoked_at    timestamptz,
  constraint api_keys_pkey primary key (key_hash),
  constraint api_keys_id_key unique (id),
  constraint api_keys_key_hash_is_sha256 check (octet_length(key_hash) = 32)
);
create index api_keys_connection_id_idx on api_keys (connection_id, id);
comment on table api_keys is 'Keys of connections, stored only as hashes. A shared table: a key is looked up before its connection is known, so there is no foreign key to connections.';
comment on column api_keys.key_hash is 'SHA-256 of the whole key; the key has 256 random bits, so no salt or stretching is needed.';
comment on column api_keys.prefix is 'First characters of the key, by which people recognize it.';

create table products (
  merchant_id  uuid        not null,
  id           uuid        not null,
  sku          text        not null,
  name         text        not null,
  description  text,
  image_url    text,
  weight_grams integer,
  price_minor  bigint      not null,
  currency     text        not null,
  status       text        not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  constraint products_pkey primary key (merchant_id, id),
  constraint products_merchant_currency_fkey foreign key (merchant_id, currency) references merchants (id, currency),
  constraint products_status_known check (status in ('active', 'discontinued')),
  constraint products_price_in_range check (price_minor between 0 and 100000000000),
  constraint products_weight_not_negative check (weight_grams >= 0),
  constraint products_sku_length check (char_length(sku) between 1 and 255),
  constraint products_name_length check (char_length(name) between 1 and 255)
);
create index products_id_idx on products (id);
create index products_sku_idx on products (merchant_id, sku, id);
comment on table products is 'Catalogs of merchants. Products are discontinued, never deleted, so order lines can always reference them.';
comment on column products.sku is 'The merchant''s own article number; two products may share one.';
comment on column products.price_minor is 'Price per unit that the merchant is charged, in minor units. Never shown to partners.';

create table exposed_products (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  product_id    uuid        not null,
  exposed_at    timestamptz not null,
  withdrawn_at  timestamptz,
  constraint exposed_products_pkey primary key (merchant_id, connection_id, product_id),
  constraint exposed_products_connection_fkey foreign key (merchant_id, connection_id) references connections (merchant_id, id),
  constraint exposed_products_product_fkey foreign key (merchant_id, product_id) references products (merchant_id, id)
);
create index exposed_products_product_id_idx on exposed_products (merchant_id, product_id);
comment on table exposed_products is 'Products that a merchant has exposed to its connections. merchant_id makes the foreign keys reject another merchant''s product. Rows are never deleted: order lines reference them.';
comment on column exposed_products.withdrawn_at is 'When the product was withdrawn; null while the connection may see and order it.';
