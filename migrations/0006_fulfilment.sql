-- Where orders are sent from: facilities, their stock and what shipping from them costs, and what of the stock is
-- kept for which order (decisions 0044 to 0047). Facilities and stock are shared by all connections, so they do not
-- point at sharded tables; reservations belong to orders.

create table facilities (
  id            uuid        not null,
  name          text        not null,
  country_code  text        not null,
  rates_news_id uuid,
  created_at    timestamptz not null,
  constraint facilities_pkey primary key (id),
  constraint facilities_name_length check (char_length(name) between 1 and 255),
  constraint facilities_country_code_form check (country_code ~ '^[A-Z]{2}$')
);
create index facilities_rates_news_idx on facilities (id) where rates_news_id is not null;
comment on table facilities is 'Places that orders are sent from. Without any, routing is off.';
comment on column facilities.rates_news_id is 'Set anew whenever the rates change: waiting orders are to be looked at again. Null when that has been done.';

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
comment on table facility_rates is 'What shipping costs: to a country, in a currency, up to a weight. The lightest step that takes the order counts.';
comment on column facility_rates.price_minor is 'Minor units of the currency.';

create table stocked_products (
  product_id    uuid not null,
  stock_news_id uuid,
  constraint stocked_products_pkey primary key (product_id),
  constraint stocked_products_product_fkey foreign key (product_id) references products (id)
);
create index stocked_products_stock_news_idx on stocked_products (product_id) where stock_news_id is not null;
comment on table stocked_products is 'Products with a stock record somewhere; all others are made to order. Whoever changes stock locks the product''s row first, several in the order of their ids.';
comment on column stocked_products.stock_news_id is 'Set anew whenever more becomes available: waiting orders are to be looked at again. Null when that has been done.';

create table facility_stock (
  facility_id uuid        not null,
  product_id  uuid        not null,
  on_hand     integer     not null,
  reserved    integer     not null,
  updated_at  timestamptz not null,
  constraint facility_stock_pkey primary key (facility_id, product_id),
  constraint facility_stock_facility_fkey foreign key (facility_id) references facilities (id),
  constraint facility_stock_product_fkey foreign key (product_id) references stocked_products (product_id),
  constraint facility_stock_reserved_in_range check (reserved between 0 and on_hand)
);
create index facility_stock_product_idx on facility_stock (product_id, facility_id);
comment on table facility_stock is 'How much of a product lies where. What can be promised is on_hand less reserved.';
comment on column facility_stock.reserved is 'The sum of stock_reservations: kept for orders that have not been shipped.';

create table stock_reservations (
  connection_id uuid    not null,
  order_id      uuid    not null,
  line_id       uuid    not null,
  facility_id   uuid    not null,
  product_id    uuid    not null,
  quantity      integer not null,
  constraint stock_reservations_pkey primary key (connection_id, order_id, line_id),
  constraint stock_reservations_line_fkey foreign key (connection_id, order_id, line_id)
    references order_lines (connection_id, order_id, id),
  constraint stock_reservations_stock_fkey foreign key (facility_id, product_id)
    references facility_stock (facility_id, product_id),
  constraint stock_reservations_quantity_positive check (quantity > 0)
);
comment on table stock_reservations is 'Stock kept for a line from the routing of its order until it ships or the order settles. Deleting such a line is refused: its stock would be kept for ever.';

alter table orders add constraint orders_facility_fkey foreign key (facility_id) references facilities (id);
-- What routing has to look at. An order whose payment failed waits for the money; one that routing holds waits for
-- stock or for a rate, and is looked at again when these come (decision 0046).
create index orders_routing_due_idx on orders (connection_id, id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and not hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}';
create index orders_routing_waiting_idx on orders (id)
  where status = 'ACCEPTED' and not test_mode and routed_at is null
    and hold_reasons && '{out_of_stock,address_unserviceable}';
