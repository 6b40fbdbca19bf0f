-- The catalogs of merchants, and the products that a merchant exposes to a connection.

create table products (
  merchant_id  uuid        not null,
  id           uuid        not null,
  sku          text        not null,
  barcode      text,
  name         text        not null,
  description  text,
  image_url    text,
  weight_grams integer,
  low_stock_below integer,
  price_minor  bigint      not null,
  currency     text        not null,
  status       text        not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  barcode_key  text generated always as (
    case when barcode ~ '^[0-9]{1,14}$' then regexp_replace(barcode, '^0+(?=[0-9])', '') else barcode end) stored,
  constraint products_pkey primary key (merchant_id, id),
  constraint products_merchant_currency_fkey foreign key (merchant_id, currency) references merchants (id, currency),
  constraint products_status_known check (status in ('active', 'discontinued')),
  constraint products_price_in_range check (price_minor between 0 and 100000000000),
  constraint products_weight_not_negative check (weight_grams >= 0),
  constraint products_low_stock_below_in_range check (low_stock_below between 1 and 1000000000),
  constraint products_sku_length check (char_length(sku) between 1 and 255),
  constraint products_name_length check (char_length(name) between 1 and 255),
  constraint products_barcode_length check (char_length(barcode) between 1 and 100)
);
create index products_id_idx on products (id);
create index products_sku_idx on products (merchant_id, sku, id);
-- Scans compare without case.
create index products_folded_sku_idx on products (merchant_id, lower(sku));
-- Programs ask for the products that have changed since a time, in the order of their changes.
create index products_updated_idx on products (merchant_id, updated_at, id);
create unique index products_barcode_key on products (merchant_id, barcode_key) where barcode_key is not null;
comment on table products is 'Catalogs of merchants. Products are discontinued, never deleted, so order lines can always reference them.';
comment on column products.sku is 'The merchant''s own article number; two products may share one.';
comment on column products.low_stock_below is 'The stock of a facility is low if fewer units are available. Null if the merchant wants to be told of none.';
comment on column products.barcode is 'What is printed on a unit of the product, as a scanner reads it. Null if it has none.';
comment on column products.barcode_key is 'What barcodes are compared by: a number of at most 14 digits without the zeros before it, since scanners add and drop them. A merchant''s products have different ones.';
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
comment on table exposed_products is 'Products that a merchant has exposed to its connections. merchant_id makes the foreign keys reject another merchant''s product. Rows are deleted with their connection only: order lines reference them.';
comment on column exposed_products.withdrawn_at is 'When the product was withdrawn; null while the connection may see and order it.';
