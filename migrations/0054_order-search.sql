-- The back office finds orders by the beginning of the recipient's name or company, and by tracking number, whatever their
-- number (decision 0135). The condition of the first index holds for every order, and only the search names it: before a
-- table has statistics, the planner would also choose the index for other look-ups (decision 0084).

create index orders_name_idx on orders (merchant_id, lower(last_name || ' ' || first_name) text_pattern_ops)
  where created_at > '-infinity';
create index orders_company_idx on orders (merchant_id, lower(company) text_pattern_ops) where company is not null;
create index shipments_tracking_idx on shipments (lower(tracking_number)) where tracking_number is not null;
