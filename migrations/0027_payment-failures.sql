-- Failed payments of orders, so that the merchant gets one mail when a payment fails and one when that is resolved
-- (decision 0092). The ledger shows every attempt; a failure lasts over all attempts, until it is paid, waived or canceled.
-- Few orders have one, so the indexes by what was not mailed yet are small.

create table payment_failures (
  merchant_id        uuid        not null,
  connection_id      uuid        not null,
  order_id           uuid        not null,
  id                 uuid        not null,
  reason             text        not null,
  failed_at          timestamptz not null,
  resolved_at        timestamptz,
  resolution         text,
  failure_mail_id    uuid,
  resolution_mail_id uuid,
  constraint payment_failures_pkey primary key (merchant_id, order_id, id),
  constraint payment_failures_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint payment_failures_resolution_known check (resolution in ('paid', 'waived', 'canceled')),
  constraint payment_failures_resolved_by check ((resolved_at is null) = (resolution is null)),
  constraint payment_failures_mailed_in_turn check (resolution_mail_id is null or (failure_mail_id is not null and resolved_at is not null))
);
create unique index payment_failures_open_key on payment_failures (merchant_id, order_id) where resolved_at is null;
create index payment_failures_new_idx on payment_failures (merchant_id, failed_at) where failure_mail_id is null;
create index payment_failures_resolved_idx on payment_failures (merchant_id, resolved_at)
  where resolved_at is not null and resolution_mail_id is null;
comment on table payment_failures is 'Failed payments of orders, each from the first decline on. An order has at most one that is not resolved.';
comment on column payment_failures.reason is 'The gateway''s code for the first decline.';
comment on column payment_failures.resolved_at is 'When nothing declined was owed any more. Null until then.';
comment on column payment_failures.resolution is 'paid: the charge succeeded. waived: the operator released the order. canceled: the order was canceled.';
comment on column payment_failures.failure_mail_id is 'The mail that reports the failure. Null until it is queued. A mail can report several.';
comment on column payment_failures.resolution_mail_id is 'The same for the mail that reports the resolution, which is queued later.';

create table payment_mail_times (
  merchant_id uuid        not null,
  kind        text        not null,
  mailed_at   timestamptz not null,
  constraint payment_mail_times_pkey primary key (merchant_id, kind),
  constraint payment_mail_times_merchant_fkey foreign key (merchant_id) references merchants (id),
  constraint payment_mail_times_kind_known check (kind in ('failure', 'resolution'))
);
comment on table payment_mail_times is 'When a merchant was last mailed about failed payments, so that many failures in a short time become few mails.';
comment on column payment_mail_times.kind is 'failure: payments failed. resolution: failures were resolved.';
