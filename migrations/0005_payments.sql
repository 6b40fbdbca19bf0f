-- What merchants are charged for orders and get back, and how that is paid (decisions 0040 to 0043).
--
-- The ledger is append-only: an entry says that an amount is to be moved, an outcome says once how that ended. An
-- entry without an outcome is pending. Money is in the currency of the order, which the order's row alone names.

create table ledger_entries (
  connection_id uuid        not null,
  order_id      uuid        not null,
  id            uuid        not null,
  kind          text        not null,
  attempt       integer     not null,
  refund_of     uuid,
  amount_minor  bigint      not null,
  created_at    timestamptz not null,
  constraint ledger_entries_pkey primary key (connection_id, order_id, id),
  constraint ledger_entries_order_fkey foreign key (connection_id, order_id) references orders (connection_id, id),
  constraint ledger_entries_refund_of_fkey foreign key (connection_id, order_id, refund_of)
    references ledger_entries (connection_id, order_id, id),
  constraint ledger_entries_kind_known check (kind in ('goods', 'shipping', 'refund')),
  constraint ledger_entries_refund_of_refunds check ((kind = 'refund') = (refund_of is not null)),
  constraint ledger_entries_attempt_positive check (attempt >= 1),
  constraint ledger_entries_amount_positive check (amount_minor > 0),
  -- So the primary key already makes the first charge of an order's goods unique, and creation keeps one index less.
  constraint ledger_entries_first_charge_has_order_id check ((kind = 'goods' and attempt = 1) = (id = order_id))
);
create unique index ledger_entries_attempt_key
  on ledger_entries (connection_id, order_id, kind, refund_of, attempt) nulls not distinct
  where kind <> 'goods' or attempt > 1;
comment on table ledger_entries is 'Charges and refunds of orders; rows are only ever added. A failed entry is final: a retry is the next attempt, with an id of its own.';
comment on column ledger_entries.id is 'The idempotency key at the gateway. The first charge of the goods has the order''s own id.';
comment on column ledger_entries.kind is 'goods and shipping are taken from the merchant, refund is given back.';
comment on column ledger_entries.refund_of is 'The charge that a refund gives back, whole.';
comment on column ledger_entries.amount_minor is 'Minor units of the order''s currency, never signed.';

create table ledger_outcomes (
  connection_id     uuid        not null,
  order_id          uuid        not null,
  entry_id          uuid        not null,
  outcome           text        not null,
  gateway           text,
  gateway_reference text,
  reason            text,
  created_at        timestamptz not null,
  constraint ledger_outcomes_pkey primary key (connection_id, order_id, entry_id),
  constraint ledger_outcomes_entry_fkey foreign key (connection_id, order_id, entry_id)
    references ledger_entries (connection_id, order_id, id),
  constraint ledger_outcomes_outcome_known check (outcome in ('succeeded', 'failed', 'canceled')),
  constraint ledger_outcomes_gateway_known check (gateway in ('account', 'stripe')),
  constraint ledger_outcomes_canceled_never_sent check ((outcome = 'canceled') = (gateway is null)),
  constraint ledger_outcomes_success_has_reference check ((outcome = 'succeeded') = (gateway_reference is not null)),
  constraint ledger_outcomes_failure_has_reason check ((outcome = 'failed') = (reason is not null))
);
-- What was declined is looked for when a merchant has paid.
create index ledger_outcomes_failed_idx on ledger_outcomes (connection_id, order_id) where outcome = 'failed';
comment on table ledger_outcomes is 'How an entry ended: at most one row for each, never changed.';
comment on column ledger_outcomes.gateway is 'Who moved the money, or declined to: a refund goes back the way its charge came. Null when nothing was ever asked of a gateway.';
comment on column ledger_outcomes.gateway_reference is 'How the gateway names it.';
comment on column ledger_outcomes.reason is 'The gateway''s code for why it declined, for people of the back office.';

-- Methods of payment at Stripe, of which a merchant has at most one in use. A row is never changed but for its end, so
-- that a payment that was begun with it is repeated with exactly the same parameters. Shared: merchants are.
create table stripe_methods (
  id                uuid        not null,
  merchant_id       uuid        not null,
  customer_id       text        not null,
  payment_method_id text        not null,
  created_at        timestamptz not null,
  ended_at          timestamptz,
  constraint stripe_methods_pkey primary key (id),
  constraint stripe_methods_merchant_fkey foreign key (merchant_id) references merchants (id)
);
create unique index stripe_methods_in_use_key on stripe_methods (merchant_id) where ended_at is null;
comment on table stripe_methods is 'Which customer and payment method of Stripe a merchant''s new charges go to; without one in use, charges go to the merchant''s account with us.';
comment on column stripe_methods.ended_at is 'From then on nothing new is charged with it.';

-- No foreign keys to entries: a row is written in the statement of its entry, which is never deleted. The fill factor
-- leaves room for claims, which no index knows of.
create table due_payments (
  connection_id     uuid        not null,
  order_id          uuid        not null,
  entry_id          uuid        not null,
  due_at            timestamptz not null,
  tries             integer     not null,
  first_tried_at    timestamptz,
  claim_id          uuid,
  leased_until      timestamptz,
  recheck_asked     boolean     not null,
  gateway           text,
  stripe_method_id  uuid,
  gateway_reference text,
  constraint due_payments_pkey primary key (connection_id, order_id, entry_id),
  constraint due_payments_stripe_method_fkey foreign key (stripe_method_id) references stripe_methods (id),
  constraint due_payments_gateway_known check (gateway in ('account', 'stripe')),
  constraint due_payments_tries_not_negative check (tries >= 0),
  constraint due_payments_tried_since check ((tries = 0) = (first_tried_at is null) and (tries = 0) = (claim_id is null)),
  constraint due_payments_tried_at_a_gateway check (tries = 0 or gateway is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index due_payments_due_idx on due_payments (connection_id, due_at);
comment on table due_payments is 'Entries that a gateway is to be asked about: small, and emptied as their outcomes come in.';
comment on column due_payments.tries is 'Claims so far. 0: no gateway has ever heard of the entry.';
comment on column due_payments.claim_id is 'The last claim, which many rows share; only who made it may record an outcome.';
comment on column due_payments.first_tried_at is 'A gateway remembers an idempotency key from then on, for as long as it does.';
comment on column due_payments.leased_until is 'From then on somebody else may claim it.';
comment on column due_payments.recheck_asked is 'The gateway has told of news since the claim, so the next look is at once.';
comment on column due_payments.gateway is 'Fixed by the first claim, so that a repetition never goes to another gateway.';
comment on column due_payments.stripe_method_id is 'The method that a charge at Stripe was begun with.';
comment on column due_payments.gateway_reference is 'How the gateway names what is under way there.';

-- The merchant's account with the service: shared tables, since a merchant's connections charge the same account.
create table merchant_accounts (
  merchant_id   uuid   not null,
  balance_minor bigint not null,
  constraint merchant_accounts_pkey primary key (merchant_id),
  constraint merchant_accounts_merchant_fkey foreign key (merchant_id) references merchants (id)
) with (fillfactor = 50);
comment on table merchant_accounts is 'What merchants have with the service: the sum of their entries. Made with the first entry.';
comment on column merchant_accounts.balance_minor is 'Minor units of the merchant''s currency; below zero the merchant owes.';

create table account_entries (
  merchant_id  uuid        not null,
  id           uuid        not null,
  kind         text        not null,
  amount_minor bigint      not null,
  reference    text,
  note         text,
  created_at   timestamptz not null,
  constraint account_entries_pkey primary key (merchant_id, id),
  constraint account_entries_account_fkey foreign key (merchant_id) references merchant_accounts (merchant_id),
  constraint account_entries_kind_known check (kind in ('charge', 'refund', 'payment')),
  constraint account_entries_sign_of_kind check (amount_minor <> 0 and (kind = 'charge') = (amount_minor < 0)),
  constraint account_entries_payment_has_reference check ((kind = 'payment') = (reference is not null)),
  constraint account_entries_reference_length check (char_length(reference) between 1 and 255)
);
create unique index account_entries_reference_key on account_entries (merchant_id, reference) where reference is not null;
comment on table account_entries is 'What changed a merchant''s account; rows are only ever added, each once.';
comment on column account_entries.id is 'Of a charge or refund the id of its ledger entry, so that a repetition changes nothing.';
comment on column account_entries.reference is 'The operator''s name for a payment, such as a bank''s; the same one is booked once.';

create table account_declines (
  merchant_id uuid        not null,
  id          uuid        not null,
  created_at  timestamptz not null,
  constraint account_declines_pkey primary key (merchant_id, id),
  constraint account_declines_account_fkey foreign key (merchant_id) references merchant_accounts (merchant_id)
);
comment on table account_declines is 'Charges that an account had no room for. Whoever asks again hears the same, since somebody may have gone on from that answer.';
comment on column account_declines.id is 'The id of the ledger entry.';
