-- Charges and refunds of merchants for orders, and their payment (docs/design/money.md).
--
-- An entry states that an amount must be moved. While it is pending it is a row of due_payments. It moves to ledger_entries with
-- its outcome, and rows there are only added (docs/design/money.md, "The ledger is append-only"). Amounts are in the order's
-- currency, which only the order's row names.

-- A refund by request returns an amount, which several entries may move (docs/design/money.md, "Refunds").
create table refunds (
  merchant_id  uuid        not null,
  order_id     uuid        not null,
  id           uuid        not null,
  amount_minor bigint      not null,
  line_ids     uuid[]      not null default '{}',
  quantities   integer[]   not null default '{}',
  reason       text        not null,
  note         text,
  reference    text        not null,
  actor_kind   text        not null,
  actor_name   text,
  actor_id     text,
  created_at   timestamptz not null,
  constraint refunds_pkey primary key (merchant_id, order_id, id),
  constraint refunds_reference_key unique (merchant_id, order_id, reference),
  constraint refunds_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint refunds_amount_positive check (amount_minor > 0),
  constraint refunds_lines_counted check (cardinality(line_ids) = cardinality(quantities)),
  constraint refunds_reason_known check (reason in
    ('canceled', 'returned', 'damaged', 'lost', 'late', 'wrong_item', 'goodwill', 'other')),
  constraint refunds_note_length check (char_length(note) between 1 and 1000),
  constraint refunds_reference_length check (char_length(reference) between 1 and 255),
  constraint refunds_actor_known check (actor_kind in ('operator', 'warehouse', 'merchant', 'service')),
  constraint refunds_actor_id_length check (char_length(actor_id) <= 100)
);
comment on table refunds is 'Refunds of orders by request. A row is added with the ledger entries that return its amount. Only its note ever changes: it is erased with the personal data of the order.';
comment on column refunds.id is 'ledger_entries.refund_id of its entries.';
comment on column refunds.amount_minor is 'Minor units of the order''s currency: the sum of its first attempts.';
comment on column refunds.line_ids is 'The lines whose goods it returns the price of, or a part of it. Empty: none were named, or the lines were canceled, which order_lines says.';
comment on column refunds.quantities is 'The units of each of these lines.';
comment on column refunds.note is 'The caller''s own text. Null if there is none.';
comment on column refunds.reference is 'The caller''s name for the refund. An order is refunded once for each reference.';
comment on column refunds.actor_kind is 'Who requested it, as in timeline_entries.';
comment on column refunds.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

create table ledger_entries (
  merchant_id       uuid        not null,
  order_id          uuid        not null,
  id                uuid        not null,
  kind              text        not null,
  attempt           integer     not null,
  refund_of         uuid,
  refund_id         uuid,
  amount_minor      bigint      not null,
  request_id        text,
  outcome           text        not null,
  gateway           text,
  gateway_reference text,
  reason            text,
  created_at        timestamptz not null,
  processed_at      timestamptz not null,
  constraint ledger_entries_pkey primary key (merchant_id, order_id, id),
  constraint ledger_entries_refund_of_fkey foreign key (merchant_id, order_id, refund_of)
    references ledger_entries (merchant_id, order_id, id),
  constraint ledger_entries_refund_fkey foreign key (merchant_id, order_id, refund_id) references refunds (merchant_id, order_id, id),
  constraint ledger_entries_kind_known check (kind in ('goods', 'shipping', 'refund')),
  constraint ledger_entries_refund_of_refunds check ((kind = 'refund') = (refund_of is not null)),
  constraint ledger_entries_attempt_positive check (attempt >= 1),
  constraint ledger_entries_amount_positive check (amount_minor > 0),
  -- The primary key thus makes the first charge for an order's goods unique, so most entries are in one index.
  constraint ledger_entries_first_charge_has_order_id check ((kind = 'goods' and attempt = 1) = (id = order_id)),
  constraint ledger_entries_refund_id_refunds check (refund_id is null or kind = 'refund'),
  constraint ledger_entries_request_id_length check (char_length(request_id) <= 100),
  constraint ledger_entries_outcome_known check (outcome in ('succeeded', 'failed', 'canceled')),
  constraint ledger_entries_gateway_known check (gateway in ('account', 'stripe')),
  constraint ledger_entries_canceled_never_sent check ((outcome = 'canceled') = (gateway is null)),
  constraint ledger_entries_success_has_reference check ((outcome = 'succeeded') = (gateway_reference is not null)),
  constraint ledger_entries_failure_has_reason check ((outcome = 'failed') = (reason is not null))
);
create unique index ledger_entries_attempt_of_refund_key
  on ledger_entries (merchant_id, order_id, kind, refund_of, refund_id, attempt) nulls not distinct
  where kind <> 'goods' or attempt > 1;
-- A charge is found by its id alone (docs/design/money.md, "Statements"). The first charge for goods has the id of its order,
-- and ledger_entries_pkey finds it.
create index ledger_entries_id_idx on ledger_entries (id) where kind <> 'goods' or attempt > 1;
-- Declined charges are looked up when a merchant has paid.
create index ledger_entries_failed_idx on ledger_entries (merchant_id, order_id) where outcome = 'failed';
comment on table ledger_entries is 'Charges and refunds of orders that have ended. Rows are only added. A failed entry is final: a retry is the next attempt, with its own id.';
comment on column ledger_entries.id is 'The idempotency key at the gateway. The first charge for the goods has the order''s own id.';
comment on column ledger_entries.kind is 'goods and shipping charge the merchant; refund returns a charge to the merchant.';
comment on column ledger_entries.refund_of is 'The charge that a refund returns, or a part of it; null for charges.';
comment on column ledger_entries.refund_id is 'The request that a refund belongs to. Null for charges, and for the refund of a canceled order.';
comment on column ledger_entries.amount_minor is 'Minor units of the order''s currency; always positive.';
comment on column ledger_entries.request_id is 'The x-request-id of the request that caused the entry. Null if the service itself made it.';
comment on column ledger_entries.gateway is 'The gateway that moved the money or declined to. A refund uses the gateway of its charge. Null when the entry was canceled before it was sent to a gateway.';
comment on column ledger_entries.gateway_reference is 'The gateway''s id of the payment.';
comment on column ledger_entries.reason is 'The gateway''s code for the decline, shown in the back office.';
comment on column ledger_entries.created_at is 'When the entry was made, and became due.';
comment on column ledger_entries.processed_at is 'When its outcome was recorded.';

-- Payment methods at Stripe; a merchant has at most one in use. Only ended_at of a row ever changes, so that a payment
-- that was started with it is repeated with exactly the same parameters.
create table stripe_methods (
  merchant_id       uuid        not null,
  id                uuid        not null,
  customer_id       text        not null,
  payment_method_id text        not null,
  created_at        timestamptz not null,
  ended_at          timestamptz,
  constraint stripe_methods_pkey primary key (merchant_id, id),
  constraint stripe_methods_merchant_fkey foreign key (merchant_id) references merchants (id)
);
create unique index stripe_methods_in_use_key on stripe_methods (merchant_id) where ended_at is null;
comment on table stripe_methods is 'The Stripe customer and payment method for a merchant''s new charges. Without a method in use, charges go to the merchant''s account with the service.';
comment on column stripe_methods.ended_at is 'New charges do not use the method from this time on.';

-- What the payment is for is its primary key, so an order has one pending attempt at each. No foreign keys for refunds: the
-- transaction that adds one has read its charge and written its request, and ledger_entries has them. More than half of a page is
-- left to the claims, which make a row longer and change no indexed column: so each row can be claimed once in its page.
create table due_payments (
  merchant_id        uuid        not null,
  connection_id      uuid        not null,
  order_id           uuid        not null,
  entry_id           uuid        not null,
  kind               text        not null,
  attempt            integer     not null,
  refund_of          uuid,
  refund_id          uuid,
  purpose            text        not null generated always as (
    kind || ' ' || attempt::text || coalesce(' ' || refund_of::text, '') || coalesce(' ' || refund_id::text, '')) stored,
  amount_minor       bigint      not null,
  request_id         text,
  created_at         timestamptz not null,
  due_at             timestamptz not null,
  attempt_count      integer     not null,
  first_attempted_at timestamptz,
  claim_id           uuid,
  leased_until       timestamptz,
  recheck_requested  boolean     not null,
  gateway            text,
  stripe_method_id   uuid,
  gateway_reference  text,
  constraint due_payments_pkey primary key (merchant_id, order_id, purpose),
  constraint due_payments_stripe_method_fkey foreign key (merchant_id, stripe_method_id) references stripe_methods (merchant_id, id),
  constraint due_payments_kind_known check (kind in ('goods', 'shipping', 'refund')),
  constraint due_payments_refund_of_refunds check ((kind = 'refund') = (refund_of is not null)),
  constraint due_payments_attempt_positive check (attempt >= 1),
  constraint due_payments_amount_positive check (amount_minor > 0),
  constraint due_payments_first_charge_has_order_id check ((kind = 'goods' and attempt = 1) = (entry_id = order_id)),
  constraint due_payments_refund_id_refunds check (refund_id is null or kind = 'refund'),
  constraint due_payments_request_id_length check (char_length(request_id) <= 100),
  constraint due_payments_gateway_known check (gateway in ('account', 'stripe')),
  constraint due_payments_attempt_count_not_negative check (attempt_count >= 0),
  constraint due_payments_attempted_since check ((attempt_count = 0) = (first_attempted_at is null) and (attempt_count = 0) = (claim_id is null)),
  constraint due_payments_attempted_at_a_gateway check (attempt_count = 0 or gateway is not null)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index due_payments_due_idx on due_payments (connection_id, due_at);
-- Like ledger_entries_id_idx. Creation does not maintain it.
create index due_payments_entry_idx on due_payments (entry_id) where kind <> 'goods' or attempt > 1;
comment on table due_payments is 'Pending entries of the ledger, which must be sent to a gateway. The transaction that records the outcome moves the row to ledger_entries, so the table stays small.';
comment on column due_payments.entry_id is 'As ledger_entries.id, like the columns that follow.';
comment on column due_payments.purpose is 'What the payment is for.';
comment on column due_payments.attempt_count is 'Number of claims so far. 0: the entry was never sent to a gateway.';
comment on column due_payments.first_attempted_at is 'Time of the first claim. Gateways remember an idempotency key for a limited time from then on.';
comment on column due_payments.claim_id is 'The last claim, which rows of a batch share. Only the worker that made this claim may record an outcome.';
comment on column due_payments.leased_until is 'End of the lease: another worker may claim the row from this time on.';
comment on column due_payments.recheck_requested is 'The gateway sent an event about the payment since the claim, so it is checked again immediately.';
comment on column due_payments.gateway is 'Set by the first claim, or for a refund with its entry: a repeated request never goes to another gateway.';
comment on column due_payments.stripe_method_id is 'The payment method of a charge at Stripe, set by the first claim.';
comment on column due_payments.gateway_reference is 'The gateway''s id of the payment in progress.';

-- Failed payments of orders, so that the merchant gets one mail when a payment fails and one when that is resolved
-- (docs/design/money.md, "Mails about failed payments"). The ledger shows every attempt; a failure lasts over all attempts,
-- until it is paid, waived or canceled. Few orders have one, so the indexes by what was not mailed yet are small.
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

-- The declined charges of a merchant that can pay more than before are attempted again in batches, by a job
-- (docs/design/money.md, "Retries of declined charges"). There may be thousands, too many for the request that raises a limit
-- or records a payment.
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

-- The merchant's account with the service. All connections of a merchant charge the same account.
create table merchant_accounts (
  merchant_id   uuid   not null,
  balance_minor bigint not null,
  constraint merchant_accounts_pkey primary key (merchant_id),
  constraint merchant_accounts_merchant_fkey foreign key (merchant_id) references merchants (id)
) with (fillfactor = 50);
comment on table merchant_accounts is 'Balances of merchants with the service: the sum of account_entries. A row is created before the first entry.';
comment on column merchant_accounts.balance_minor is 'Minor units of the merchant''s currency. Negative: the merchant owes this amount.';

create table account_entries (
  merchant_id  uuid        not null,
  id           uuid        not null,
  kind         text        not null,
  amount_minor bigint      not null,
  reference    text,
  note         text,
  actor_kind   text,
  actor_name   text,
  actor_id     text,
  created_at   timestamptz not null,
  constraint account_entries_pkey primary key (merchant_id, id),
  constraint account_entries_account_fkey foreign key (merchant_id) references merchant_accounts (merchant_id),
  constraint account_entries_kind_known check (kind in ('charge', 'refund', 'payment')),
  constraint account_entries_sign_of_kind check (amount_minor <> 0 and (kind = 'charge') = (amount_minor < 0)),
  constraint account_entries_payment_has_reference check ((kind = 'payment') = (reference is not null)),
  constraint account_entries_reference_length check (char_length(reference) between 1 and 255),
  constraint account_entries_actor_of_payment check (actor_kind is null or kind = 'payment'),
  constraint account_entries_actor_id_length check (char_length(actor_id) <= 100)
);
create unique index account_entries_reference_key on account_entries (merchant_id, reference) where reference is not null;
-- A statement of an account lists the entries of a period and sums up those since its begin
-- (docs/design/money.md, "Statements"). An entry is booked later than its id says, so the primary key does not help. The index
-- alone has all that the sums need.
create index account_entries_booked_idx on account_entries (merchant_id, created_at, id) include (kind, amount_minor);
comment on table account_entries is 'Changes of merchants'' accounts. Rows are only added, each once.';
comment on column account_entries.id is 'For a charge or refund the id of its ledger entry, so that a repeated request changes nothing.';
comment on column account_entries.reference is 'The operator''s reference of a payment, such as the bank''s. A payment is booked once for each reference.';
comment on column account_entries.actor_kind is 'Who recorded a payment, as in timeline_entries. Null for charges and refunds.';
comment on column account_entries.actor_name is 'The name of who recorded it.';
comment on column account_entries.actor_id is 'The id on the wire of who recorded it. Null if there is none.';

create table account_declines (
  merchant_id uuid        not null,
  id          uuid        not null,
  created_at  timestamptz not null,
  constraint account_declines_pkey primary key (merchant_id, id),
  constraint account_declines_account_fkey foreign key (merchant_id) references merchant_accounts (merchant_id)
);
comment on table account_declines is 'Charges that exceeded the credit limit. A repeated request is declined again, because the first decline may already have been recorded.';
comment on column account_declines.id is 'The id of the ledger entry.';

-- Where merchants pay what they owe, one account of the operator for each currency (docs/design/money.md, "How merchants pay").
create table bank_details (
  id             uuid        not null,
  currency       text        not null,
  account_holder text        not null,
  account_number text        not null,
  bank_code      text,
  bank_name      text,
  note           text,
  updated_at     timestamptz not null,
  constraint bank_details_pkey primary key (id),
  constraint bank_details_currency_key unique (currency),
  constraint bank_details_currency_form check (currency ~ '^[A-Z]{3}$'),
  constraint bank_details_texts_length check (
    char_length(account_holder) between 1 and 255 and char_length(account_number) between 1 and 255
    and char_length(bank_code) between 1 and 255 and char_length(bank_name) between 1 and 255
    and char_length(note) between 1 and 255)
);
comment on table bank_details is 'Bank accounts of the operator that merchants pay to. Few rows, read with the account of a merchant.';
comment on column bank_details.account_number is 'An IBAN without spaces, or another number.';
comment on column bank_details.bank_code is 'BIC, sort code or routing number. Null if the number needs none.';
comment on column bank_details.note is 'What else a merchant must know, such as whom to ask. Null if nothing.';
