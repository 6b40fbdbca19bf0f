-- Compares products that the service has read before with what they are now, so that orders of unchanged ones can be stored
-- without reading them first (docs/design/creating-orders.md, "Known products"). Called by place_orders.
--
-- of_merchant: the merchant of all products; null if there are several, which Citus does not permit.
-- known_…: each product once. known_terms is what the service has read of it, as one text.
-- Returns the positions of those that have changed, or that the connection may not order any more, counted from 1.
--
-- Each row is found by the index of its primary key, whatever the statistics of the table are when a session makes its plan: a
-- subquery takes the first row from the key on, in the order of the key. With sorting disabled, only that index has this order
-- (docs/design/database.md, "Plans and statistics"). A session that read the products when there were few would otherwise read
-- all of them when there are many.

create or replace function changed_products(
  of_merchant       uuid,
  known_merchants   uuid[],
  known_connections uuid[],
  known_products    uuid[],
  known_terms       text[]
) returns table (number bigint)
language plpgsql
set enable_sort = off
-- Before PostgreSQL 18 a disabled sort counts as so expensive that the server would compile the statement.
set jit = off
as $function$
#variable_conflict use_column
begin
  return query
  select k.number
  from unnest(known_merchants, known_connections, known_products, known_terms) with ordinality
    as k (merchant_id, connection_id, product_id, terms, number)
  left join lateral (
    select row(
      p.status, p.price_minor, c.currency,
      c.review_max_quantity, c.review_max_order_value_minor, c.review_countries)::text as terms
    from (
      select e.product_id, e.withdrawn_at
      from exposed_products e
      where e.merchant_id = k.merchant_id and e.connection_id = k.connection_id and e.product_id >= k.product_id
        and (of_merchant is null or e.merchant_id = of_merchant)
      order by e.product_id
      limit 1) as e
    cross join lateral (
      select p.id, p.status, p.price_minor
      from products p
      where p.merchant_id = k.merchant_id and p.id >= k.product_id
        and (of_merchant is null or p.merchant_id = of_merchant)
      order by p.id
      limit 1) as p
    cross join lateral (
      select c.id, c.currency, c.review_max_quantity, c.review_max_order_value_minor, c.review_countries
      from connections c
      where c.merchant_id = k.merchant_id and c.id >= k.connection_id
        and (of_merchant is null or c.merchant_id = of_merchant)
      order by c.id
      limit 1) as c
    where e.product_id = k.product_id and e.withdrawn_at is null and p.id = k.product_id and c.id = k.connection_id
  ) as now on true
  where now.terms is distinct from k.terms;
end
$function$;

comment on function changed_products is 'The positions of known products that are no longer as known_terms says.';
