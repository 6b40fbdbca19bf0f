-- Merchants, their connections to partners, and the keys of those connections.
--
-- Ready for distribution by merchant (docs/design/distribution.md, "The merchant is the unit"): rows of a merchant have the
-- merchant's id first in every primary key. The few tables without it (such as api_keys and facilities) are shared, and do not
-- reference distributed ones.

create table merchants (
  id                    uuid        not null,
  name                  text        not null,
  account_email         text        not null,
  currency              text        not null,
  credit_limit_minor    bigint,
  complete_when_shipped boolean     not null default false,
  limits                jsonb       not null default '{}',
  created_at            timestamptz not null,
  constraint merchants_pkey primary key (id),
  constraint merchants_id_currency_key unique (id, currency),
  constraint merchants_name_length check (char_length(name) between 1 and 255),
  constraint merchants_currency_form check (currency ~ '^[A-Z]{3}$'),
  constraint merchants_credit_limit_not_negative check (credit_limit_minor >= 0),
  constraint merchants_limits_object check (jsonb_typeof(limits) = 'object')
);
comment on table merchants is 'Companies that expose their products to partners and are charged for orders.';
comment on column merchants.account_email is 'Address for mails with carrier tracking.';
comment on column merchants.currency is 'ISO 4217; every price and charge of the merchant is in it.';
comment on column merchants.credit_limit_minor is 'Limit of what the merchant may owe, in minor units; null means unlimited.';
comment on column merchants.complete_when_shipped is 'The service completes orders once every line has shipped and every charge is paid.';
comment on column merchants.limits is 'Maximum by name of the limits of a merchant that the operator has changed; all others have their defaults (src/merchants/limits.ts).';

-- Apart from merchants, because an import of products locks that row for long, and so that counting waits for nothing else
-- (docs/design/isolation-and-limits.md, "Stored things").
create table merchant_counts (
  merchant_id uuid    not null,
  products    integer not null default 0,
  constraint merchant_counts_pkey primary key (merchant_id),
  constraint merchant_counts_merchant_fkey foreign key (merchant_id) references merchants (id),
  constraint merchant_counts_products_not_negative check (products >= 0)
) with (fillfactor = 50);
comment on table merchant_counts is 'The row that a transaction locks while it counts what a merchant has. It is created when something is counted first.';
comment on column merchant_counts.products is 'Products of the merchant. None is deleted, so the number only grows. Counting half a million rows for each new one would be slow.';

create table connections (
  merchant_id                  uuid        not null,
  id                           uuid        not null,
  currency                     text        not null,
  name                         text        not null,
  review_max_quantity          integer,
  review_max_order_value_minor bigint,
  review_countries             text[],
  limits                       jsonb       not null default '{}',
  created_at                   timestamptz not null,
  ends_at                      timestamptz,
  requester_hash               bytea,
  live_agents                  boolean     not null default false,
  certification_max_age_days   integer,
  certified_at                 timestamptz,
  constraint connections_pkey primary key (merchant_id, id),
  constraint connections_id_currency_key unique (merchant_id, id, currency),
  constraint connections_merchant_currency_fkey foreign key (merchant_id, currency) references merchants (id, currency),
  constraint connections_name_length check (char_length(name) between 1 and 255),
  constraint connections_review_max_quantity_positive check (review_max_quantity >= 1),
  constraint connections_review_max_order_value_not_negative check (review_max_order_value_minor >= 0),
  constraint connections_review_countries_form check (array_to_string(review_countries, ',', '-') ~ '^([A-Z]{2}(,[A-Z]{2})*)?$'),
  constraint connections_limits_object check (jsonb_typeof(limits) = 'object'),
  constraint connections_certification_max_age_days_in_range check (certification_max_age_days between 1 and 3650),
  constraint connections_requester_of_those_that_end check ((ends_at is null) = (requester_hash is null)),
  constraint connections_requester_hash_is_sha256 check (octet_length(requester_hash) = 32)
);
create index connections_id_idx on connections (id);
-- Few connections end. A job looks for those that have ended, and a request for a test key for those of its network.
create index connections_ends_idx on connections (ends_at) where ends_at is not null;
create index connections_requester_idx on connections (merchant_id, requester_hash) where requester_hash is not null;
comment on table connections is 'One partner''s access to one merchant. Everything a partner sees belongs to one connection.';
comment on column connections.currency is 'The merchant''s currency, repeated here so that a foreign key keeps orders in it.';
comment on column connections.review_max_quantity is 'Review policy: an order with more units needs review; null means no limit.';
comment on column connections.review_max_order_value_minor is 'Review policy: an order with a higher value, in minor units of the merchant''s currency, needs review; null means no limit.';
comment on column connections.review_countries is 'Review policy: an order to a country outside this list needs review; null means any country.';
comment on column connections.ends_at is 'When a connection that a stranger made for a test key ends. Then it is removed with all it has. Null for all others, which are never deleted.';
comment on column connections.live_agents is 'Whether agents may use live keys, and so place and cancel real orders.';
comment on column connections.certification_max_age_days is 'A live key is issued only if a certification has passed within so many days; null means that none is needed.';
comment on column connections.certified_at is 'When a certification of the connection last passed. Null if none has. Kept here, so that issuing a key decides under the lock of this row.';
comment on column connections.requester_hash is 'SHA-256 of the network of that stranger, so that one network makes few. Null for all others.';
comment on column connections.limits is 'Maximum by name of the stored limits that the operator has changed; all others have their defaults (src/merchants/limits.ts).';

create table api_keys (
  key_hash       bytea       not null,
  id             uuid        not null,
  merchant_id    uuid        not null,
  connection_id  uuid        not null,
  mode           text        not null default 'live',
  name           text,
  prefix         text        not null,
  replaced_by_id uuid,
  created_at     timestamptz not null,
  expires_at     timestamptz,
  revoked_at     timestamptz,
  token_id       uuid,
  is_requested   boolean     not null default false,
  constraint api_keys_pkey primary key (key_hash),
  constraint api_keys_id_key unique (id),
  constraint api_keys_key_hash_is_sha256 check (octet_length(key_hash) = 32),
  constraint api_keys_mode_known check (mode in ('live', 'test')),
  constraint api_keys_requested_are_test_keys check (not is_requested or mode = 'test' and expires_at is not null)
);
create index api_keys_connection_idx on api_keys (merchant_id, connection_id, id);
create index api_keys_token_id_idx on api_keys (token_id) where token_id is not null;
comment on table api_keys is 'Keys of connections, stored only as hashes. A shared table: a key is looked up before its connection is known, so there is no foreign key to connections.';
comment on column api_keys.key_hash is 'SHA-256 of the whole key; the key has 256 random bits, so no salt or stretching is needed.';
comment on column api_keys.mode is 'live: the key can do everything. test: it creates and changes test orders only, and finds no real order.';
comment on column api_keys.prefix is 'First characters of the key, by which people recognize it.';
comment on column api_keys.token_id is 'The token of the back office that issued it, with whose revocation it ends. Null: a person, OPERATOR_TOKEN or the command line did.';
comment on column api_keys.is_requested is 'A stranger has requested it, without a person who issues it. It has a smaller allowance.';
comment on column api_keys.replaced_by_id is 'The key that a rotation has put in its place. Null if it was not rotated. A key is rotated once.';

-- Apart from api_keys, so that the rows that every request of a partner reads are not written for their uses
-- (docs/design/isolation-and-limits.md, "Keys").
create table api_key_uses (
  key_id       uuid        not null,
  last_used_at timestamptz not null,
  constraint api_key_uses_pkey primary key (key_id)
);
comment on table api_key_uses is 'When each key was last used. A shared table, like api_keys.';
comment on column api_key_uses.key_id is 'The id of the key in api_keys.';
comment on column api_key_uses.last_used_at is 'Written at most once in five minutes by each process.';

-- Rate limits hold over all processes (docs/design/isolation-and-limits.md, "Rate limit"). The requests of an owner have
-- positions on a line of time, one after another at the interval of the limit. This table keeps how far the line is granted to
-- processes.
--
-- Unlogged: a grant writes no log and waits for no disk. After a crash of the server the table is empty, and every allowance is
-- full. On Citus a row that a grant updates can be compared with columns of the rejected row only, so each row has the window
-- of its grant (docs/design/distribution.md, "Merchant by merchant"). No foreign key: owners are connections, merchants, people
-- and tokens.
create unlogged table rate_limits (
  merchant_id  uuid   not null,
  owner_id     uuid   not null,
  kind         text   not null,
  granted_from bigint not null,
  granted_to   bigint not null,
  window_us    bigint not null,
  constraint rate_limits_pkey primary key (merchant_id, owner_id, kind),
  constraint rate_limits_kind_known check (
    kind in ('live', 'test', 'requested', 'live-polls', 'test-polls', 'requested-polls', 'back-office')),
  constraint rate_limits_granted_in_order check (granted_from <= granted_to)
) with (fillfactor = 50);
comment on table rate_limits is 'How far the requests of each owner of an allowance are granted to processes. A row appears with the first request that counts.';
comment on column rate_limits.merchant_id is 'The merchant of the owner. The owner itself if it is a person or a token of no merchant.';
comment on column rate_limits.owner_id is 'A connection, a person, a token, or the merchant whose connections or callers share the allowance.';
comment on column rate_limits.kind is 'The requests that the allowance is for: with live keys, with test keys, with those that strangers have requested, the polls and acknowledgements with each of these, or to the back office.';
comment on column rate_limits.granted_from is 'Where the newest grant begins, in microseconds since 1970.';
comment on column rate_limits.granted_to is 'Where the newest grant ends, in microseconds since 1970. The next one begins here, or now if that is later.';
comment on column rate_limits.window_us is 'How far ahead of the time requests have positions, in microseconds, by the settings of the process with the newest grant.';
