-- Where orders ship from: facilities, their shipping rates and their stock, and the stock reserved for orders
-- (decisions 0044 to 0047). Facilities and rates are shared by all merchants; stock belongs to the merchant of its
-- product, and reservations to orders.

create table facilities (
  id               uuid        not null,
  name             text        not null,
  country_code     text        not null,
  supply_change_id uuid,
  created_at       timestamptz not null,
  constraint facilities_pkey primary key (id),
  constraint facilities_name_length check (char_length(name) between 1 and 255),
  constraint facilities_country_code_form check (country_code ~ '^[A-Z]{2}$')
);
create index facilities_supply_change_idx on facilities (id) where supply_change_id is not null;
comment on table facilities is 'Sites that orders ship from. Without any facility, routing is off.';
comment on column facilities.supply_change_id is 'A new id for each change of the rates: waiting orders must be evaluated again. Null once that is done.';

create table facility_rates (
  facility_id      uuid    not null,
  country_code     text    not null,
  currency         text    not null,
  max_weight_grams integer not null,
  price_minor      bigint  not null,
  constraint facility_rates_pkey primary key (facility_id, country_code, currency, max_weight_grams),
  constraint facility_rates_facility_fkey foreign key (facility_id) references facilities (id),
  constraint facility_rates_country_code_form check (country_code ~ '^[A-Z]{2}$'),
  constraint facility_rates_currency_form check (currency ~ '^[A-Z]{3}$'),
  constraint facility_rates_max_weight_positive check (max_weight_grams > 0),
  constraint facility_rates_price_in_range check (price_minor between 0 and 100000000000)
);
comment on table facility_rates is 'Shipping rates: the price to a country, in a currency, up to a weight. The lightest rate bracket that covers the order''s weight applies.';
comment on column facility_rates.price_minor is 'Minor units of the currency.';

create table stocked_products (
  merchant_id   uuid not null,
  product_id       uuid not null,
  supply_change_id uuid,
  constraint stocked_products_pkey primary key (merchant_id, product_id),
  constraint stocked_products_product_fkey foreign key (merchant_id, product_id) references products (merchant_id, id)
);
create index stocked_products_supply_change_idx on stocked_products (product_id) where supply_change_id is not null;
comment on table stocked_products is 'Products with a stock record at any facility; all others are made to order. A transaction that changes stock first locks the rows of its products here, in the order of their ids.';
comment on column stocked_products.supply_change_id is 'A new id whenever more of the product becomes available: waiting orders must be evaluated again. Null once that is done.';

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
);
create index facility_stock_product_idx on facility_stock (merchant_id, product_id, facility_id);
comment on table facility_stock is 'Quantity of a product at a facility. on_hand minus reserved is available for new orders.';
comment on column facility_stock.reserved is 'Sum of stock_reservations: reserved for lines that have not shipped.';

create table stock_reservations (
  merchant_id   uuid    not null,
  order_id      uuid    not null,
  line_id       uuid    not null,
  facility_id   uuid    not null,
  product_id    uuid    not null,
  quantity      integer not null,
  constraint stock_reservations_pkey primary key (merchant_id, order_id, line_id),
  constraint stock_reservations_line_fkey foreign key (merchant_id, order_id, line_id)
    references order_lines (merchant_id, order_id, id),
  constraint stock_reservations_stock_fkey foreign key (merchant_id, facility_id, product_id)
    references facility_stock (merchant_id, facility_id, product_id),
  constraint stock_reservations_quantity_positive check (quantity > 0)
);
comment on table stock_reservations is 'Stock reserved for an order line, from the routing of its order until the line ships or the order is settled. The foreign key prevents deleting a line whose stock is still reserved.';

alter table orders add constraint orders_facility_fkey foreign key (facility_id) references facilities (id);
-- Orders that routing must evaluate. An order whose payment failed waits for the payment. An order that routing holds
-- waits for stock or for a rate, and is evaluated again after a supply change (decision 0046).
create index orders_routing_due_idx on orders (connection_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and not hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}';
create index orders_routing_waiting_idx on orders (id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and hold_reasons && '{out_of_stock,address_unserviceable}';
