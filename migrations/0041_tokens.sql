-- Named tokens of the back office (decision 0077). One token for everybody could not be replaced process by process, and
-- the timeline called all of its users "operator".
--
-- A token belongs to no merchant. Its table is small and read with every request of the back office, like api_keys.

create table back_office_tokens (
  id              uuid        not null,
  token_hash      bytea       not null,
  name            text        not null,
  role            text        not null,
  merchant_ids    uuid[]      not null,
  prefix          text        not null,
  created_by_kind text        not null,
  created_by_name text,
  created_by_id   text,
  created_at      timestamptz not null,
  expires_at      timestamptz,
  revoked_at      timestamptz,
  last_used_at    timestamptz,
  replaces_id     uuid,
  constraint back_office_tokens_pkey primary key (id),
  constraint back_office_tokens_hash_key unique (token_hash),
  constraint back_office_tokens_replaces_key unique (replaces_id),
  constraint back_office_tokens_hash_length check (octet_length(token_hash) = 32),
  constraint back_office_tokens_name_length check (char_length(name) between 1 and 255),
  constraint back_office_tokens_role_known
    check (role in ('operator', 'warehouse', 'merchant', 'support', 'monitoring')),
  constraint back_office_tokens_merchants_of_role
    check (case when role = 'merchant' then cardinality(merchant_ids) between 1 and 100 else merchant_ids = '{}' end)
);
comment on table back_office_tokens is 'Tokens of programs that use the back office. The token of OPERATOR_TOKEN is not among them.';
comment on column back_office_tokens.id is 'UUIDv7, made by the service. On the wire it has the prefix tok.';
comment on column back_office_tokens.token_hash is 'SHA-256 of the token. The token itself is never stored.';
comment on column back_office_tokens.name is 'What timeline and audit log call the program. It never changes.';
comment on column back_office_tokens.role is 'What the token may do. It never changes.';
comment on column back_office_tokens.merchant_ids is 'The merchants whose data a token with the role merchant sees. Empty for the other roles.';
comment on column back_office_tokens.prefix is 'First characters of the token, by which people recognize it.';
comment on column back_office_tokens.created_by_kind is 'Who created it, as in timeline_entries.';
comment on column back_office_tokens.created_by_name is 'The name of who created it.';
comment on column back_office_tokens.created_by_id is 'The id on the wire of the token that created it. Null for OPERATOR_TOKEN and the command line.';
comment on column back_office_tokens.created_at is 'When it was created.';
comment on column back_office_tokens.expires_at is 'From this time on it is not valid. Null: it does not expire. A rotation brings it forward.';
comment on column back_office_tokens.revoked_at is 'When it was revoked. Null if it was not.';
comment on column back_office_tokens.last_used_at is 'When it was used, written at most once in five minutes. Null: it never was.';
comment on column back_office_tokens.replaces_id is 'The token that a rotation replaced with this one. Null if none. Unique: a token is rotated once.';
