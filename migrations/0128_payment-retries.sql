-- The declined charges of a merchant that can pay more than before are attempted again in batches, by a job (decision 0212).
-- There may be thousands, too many for the request that raises a limit or records a payment.

create table payment_retries (
  merchant_id      uuid        not null,
  id               uuid        not null,
  part             text        not null,
  position         uuid        not null,
  failed_order_ids uuid[]      not null,
  created_at       timestamptz not null,
  constraint payment_retries_pkey primary key (merchant_id),
  constraint payment_retries_merchant_fkey foreign key (merchant_id) references merchants (id),
  constraint payment_retries_part_known check (part in ('scheduled', 'declined'))
);
comment on table payment_retries is 'Merchants that can pay more than before, and whose declined charges a worker still has to make due. A row is deleted when all are due.';
comment on column payment_retries.id is 'Differs for each change, so that a worker notices that a later one has begun the retry again.';
comment on column payment_retries.part is 'scheduled: attempts that wait for their time become due. declined: after that, declined charges without an attempt get one.';
comment on column payment_retries.position is 'The order up to which the part has been processed.';
comment on column payment_retries.failed_order_ids is 'Orders before the position that were locked, or could not be stored. Each run processes them again.';
comment on column payment_retries.created_at is 'When the merchant last became able to pay more.';
