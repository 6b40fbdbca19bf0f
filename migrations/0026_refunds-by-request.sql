-- Refunds by request (decision 0089): an amount of an order, with a reason, that is returned at the gateways that charged
-- it. One request can be paid as several entries of the ledger, one for each charge that it returns a part of.
--
-- A charge can now have several refunds. Their attempts are counted apart, so the unique index of attempts includes the
-- request. It leaves out the first charges for goods, so it is small, and creation still does not maintain it.

create table refunds (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  id           uuid        not null,
  amount_minor bigint      not null,
  all_left     boolean     not null,
  reason       text        not null,
  note         text,
  reference    text        not null,
  actor_kind   text        not null,
  actor_name   text,
  created_at   timestamptz not null,
  constraint refunds_pkey primary key (merchant_id, order_id, id),
  constraint refunds_reference_key unique (merchant_id, order_id, reference),
  constraint refunds_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint refunds_amount_positive check (amount_minor > 0),
  constraint refunds_reason_known check (reason in
    ('returned', 'damaged', 'lost', 'late', 'wrong_item', 'goodwill', 'other')),
  constraint refunds_note_length check (char_length(note) between 1 and 1000),
  constraint refunds_reference_length check (char_length(reference) between 1 and 255),
  constraint refunds_actor_known check (actor_kind in ('operator', 'warehouse', 'merchant', 'service'))
);
comment on table refunds is 'Refunds of orders by request. A row is added with the ledger entries that return its amount. Only its note ever changes: it is erased with the personal data of the order.';
comment on column refunds.id is 'ledger_entries.refund_id of its entries.';
comment on column refunds.amount_minor is 'Minor units of the order''s currency: the sum of its first attempts.';
comment on column refunds.all_left is 'The request named no amount, so it returned all that was left of the charges.';
comment on column refunds.note is 'The caller''s own text. Null if there is none.';
comment on column refunds.reference is 'The caller''s name for the refund. An order is refunded once for each reference.';
comment on column refunds.actor_kind is 'Who requested it, as in timeline_entries.';

alter table ledger_entries add column refund_id uuid;
alter table ledger_entries add constraint ledger_entries_refund_fkey
  foreign key (merchant_id, order_id, refund_id) references refunds (merchant_id, order_id, id);
alter table ledger_entries add constraint ledger_entries_refund_id_refunds check (refund_id is null or kind = 'refund');
create unique index ledger_entries_attempt_of_refund_key
  on ledger_entries (merchant_id, order_id, kind, refund_of, refund_id, attempt) nulls not distinct
  where kind <> 'goods' or attempt > 1;
drop index ledger_entries_attempt_key;
comment on column ledger_entries.refund_of is 'The charge that a refund returns, or a part of it; null for charges.';
comment on column ledger_entries.refund_id is 'The request that a refund belongs to. Null for charges, and for the refund of a canceled order.';
