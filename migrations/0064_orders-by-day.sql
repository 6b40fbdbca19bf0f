-- The overview shows how many orders of each day have which status. Their rows lie all over the table of orders, so counting
-- a million of them takes many seconds. A job counts each day once in a while, and keeps the figures here (decision 0149).
-- No transition writes to these tables.

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
