-- Where orders ship from (docs/design/fulfilment.md, "Choice of a facility"). Facilities and their rates are shared by all
-- merchants. Orders reference them, so they come first; the stock of merchants at facilities follows after the orders.

create table facilities (
  id               uuid        not null,
  name             text        not null,
  country_code     text        not null,
  address          json,
  supply_change_id uuid,
  created_at       timestamptz not null,
  closed_at        timestamptz,
  constraint facilities_pkey primary key (id),
  constraint facilities_name_length check (char_length(name) between 1 and 255),
  constraint facilities_country_code_form check (country_code ~ '^[A-Z]{2}$'),
  constraint facilities_address_is_object check (json_typeof(address) = 'object')
);
create index facilities_supply_change_idx on facilities (id) where supply_change_id is not null;
comment on table facilities is 'Sites that orders ship from. Without any facility, routing is off.';
comment on column facilities.address is 'Where parcels come from and come back to, as slips print it. Null if it is not known.';
comment on column facilities.supply_change_id is 'A new id for each change of the rates: waiting orders must be evaluated again. Null once that is done.';
comment on column facilities.closed_at is 'When the facility was closed: no order is routed to it. Null while it is open.';

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
