-- People and programs that use the back office, what they sign in with (docs/design/people.md, "Sign-in is our own"), and the
-- filters that they keep.
--
-- They belong to no merchant: a person may work for several, and for the warehouse as well. So these tables are shared, small
-- and mostly read. Secrets are stored as hashes, or encrypted where the service needs them again.

create table people (
  id                 uuid        not null,
  name               text        not null,
  email              text        not null,
  created_at         timestamptz not null,
  created_by_kind    text        not null,
  created_by_name    text,
  created_by_id      text,
  accepted_at        timestamptz,
  last_signed_in_at  timestamptz,
  disabled_at        timestamptz,
  password_hash      text,
  invitation_resends integer     not null default 0,
  constraint people_pkey primary key (id),
  constraint people_email_key unique (email),
  constraint people_name_length check (char_length(name) between 1 and 255),
  constraint people_email_form check (char_length(email) between 3 and 254 and email = lower(email)),
  constraint people_password_hash_length check (char_length(password_hash) <= 255)
);
comment on table people is 'People who sign in to the back office.';
comment on column people.id is 'UUIDv7, made by the service. On the wire it has the prefix per.';
comment on column people.name is 'What timeline and audit log call the person.';
comment on column people.email is 'In lower case. Invitations and resets are sent to it.';
comment on column people.created_by_kind is 'Who invited the person, as in timeline_entries.';
comment on column people.created_by_name is 'The name of who invited the person.';
comment on column people.created_by_id is 'The id on the wire of who invited the person. Null for OPERATOR_TOKEN, the command line and the service.';
comment on column people.accepted_at is 'When the person first signed in. Null: the invitation is open.';
comment on column people.last_signed_in_at is 'When the person last signed in. Null: never.';
comment on column people.disabled_at is 'Since then the person cannot sign in. Null: it can.';
comment on column people.password_hash is 'The scrypt hash of the password, with its parameters and its salt. Null: the person has none.';
comment on column people.invitation_resends is 'How often the invitation was sent again. It is not sent without end.';

create table person_grants (
  person_id      uuid   not null,
  role           text   not null,
  merchant_ids   uuid[] not null,
  facility_ids   uuid[],
  connection_ids uuid[] not null,
  token_id       uuid,
  giver_id       uuid   not null generated always as (coalesce(token_id, '00000000-0000-0000-0000-000000000000')) stored,
  constraint person_grants_pkey primary key (person_id, role, giver_id),
  constraint person_grants_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_grants_role_known check (role in ('operator', 'warehouse', 'merchant', 'partner', 'support', 'monitoring')),
  constraint person_grants_scope_of_role check (
    case role
      when 'merchant' then cardinality(merchant_ids) between 1 and 100 and facility_ids is null and connection_ids = '{}'
      when 'partner' then cardinality(connection_ids) between 1 and 100
        and cardinality(merchant_ids) = cardinality(connection_ids) and facility_ids is null
      when 'warehouse' then merchant_ids = '{}' and connection_ids = '{}'
        and (facility_ids is null or cardinality(facility_ids) between 1 and 100)
      else merchant_ids = '{}' and facility_ids is null and connection_ids = '{}'
    end)
);
create index person_grants_merchant_ids_idx on person_grants using gin (merchant_ids);
create index person_grants_token_id_idx on person_grants (token_id) where token_id is not null;
comment on table person_grants is 'The roles of a person, each with what it is for. A role that several have given has a row of each, with what that one has given.';
comment on column person_grants.role is 'What the person may do.';
comment on column person_grants.merchant_ids is 'For merchant: the merchants. For partner: the merchant of each connection, in their order. Else empty.';
comment on column person_grants.facility_ids is 'For warehouse: the facilities; null: all of them, also later ones. Null for other roles.';
comment on column person_grants.connection_ids is 'For partner: the connections. Else empty.';
comment on column person_grants.giver_id is 'token_id for the primary key, which cannot contain a null.';
comment on column person_grants.token_id is 'The token that gave it, with whose revocation it ends. Null: a person, OPERATOR_TOKEN or the command line did.';

create table person_provider_accounts (
  person_id uuid        not null,
  issuer    text        not null,
  subject   text        not null,
  linked_at timestamptz not null,
  constraint person_provider_accounts_pkey primary key (person_id),
  constraint person_provider_accounts_subject_key unique (issuer, subject),
  constraint person_provider_accounts_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_provider_accounts_issuer_length check (char_length(issuer) between 1 and 1000),
  constraint person_provider_accounts_subject_length check (char_length(subject) between 1 and 255)
);
comment on table person_provider_accounts is 'The account at the identity provider that a person signs in with. A person has one at most.';
comment on column person_provider_accounts.issuer is 'The identity provider, as its ID tokens name it.';
comment on column person_provider_accounts.subject is 'Its own id of the account, which it gives to no other one.';
comment on column person_provider_accounts.linked_at is 'When the person first signed in with it.';

create table person_passkeys (
  id            uuid        not null,
  person_id     uuid        not null,
  name          text        not null,
  credential_id text        not null,
  public_key    bytea       not null,
  counter       bigint      not null,
  transports    text[]      not null,
  created_at    timestamptz not null,
  constraint person_passkeys_pkey primary key (id),
  constraint person_passkeys_credential_key unique (credential_id),
  constraint person_passkeys_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_passkeys_name_length check (char_length(name) <= 255),
  constraint person_passkeys_credential_length check (char_length(credential_id) <= 1400),
  constraint person_passkeys_key_length check (octet_length(public_key) <= 4096),
  constraint person_passkeys_transports_count check (cardinality(transports) <= 10)
);
create index person_passkeys_person_id_idx on person_passkeys (person_id);
comment on table person_passkeys is 'Passkeys of people (WebAuthn). They hold public keys alone.';
comment on column person_passkeys.name is 'How the person recognizes it.';
comment on column person_passkeys.credential_id is 'The id that the device has given it, in base64url.';
comment on column person_passkeys.public_key is 'In the form of COSE. What the device signs is verified with it.';
comment on column person_passkeys.counter is 'Uses that the device has counted. A lower one shows a copy of the key. 0: the device does not count.';
comment on column person_passkeys.transports is 'How a browser reaches the device, as it has said.';

create table person_one_time_codes (
  person_id     uuid        not null,
  sealed_secret text        not null,
  created_at    timestamptz not null,
  confirmed_at  timestamptz,
  last_step     bigint,
  constraint person_one_time_codes_pkey primary key (person_id),
  constraint person_one_time_codes_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_one_time_codes_secret_length check (char_length(sealed_secret) <= 255)
);
comment on table person_one_time_codes is 'What the one-time codes of a person''s device are made of (RFC 6238).';
comment on column person_one_time_codes.sealed_secret is 'The shared secret, encrypted with a key of WEBHOOK_SECRET_KEYS.';
comment on column person_one_time_codes.confirmed_at is 'When the person has proved that its device has the secret: since then a password alone does not suffice. Null: the setup is not finished.';
comment on column person_one_time_codes.last_step is 'The time step of the last code that was accepted: how many times 30 seconds after 1970 began. Codes of it and of earlier ones are rejected. Null: none was accepted.';

create table person_backup_codes (
  person_id uuid  not null,
  code_hash bytea not null,
  constraint person_backup_codes_pkey primary key (person_id, code_hash),
  constraint person_backup_codes_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_backup_codes_hash_length check (octet_length(code_hash) = 32)
);
comment on table person_backup_codes is 'Codes for a person whose device is lost. A code that is used is deleted.';
comment on column person_backup_codes.code_hash is 'SHA-256 of the code, which has 80 random bits.';

create table person_sessions (
  id               uuid        not null,
  person_id        uuid        not null,
  token_hash       bytea       not null,
  ip_address       text        not null,
  user_agent       text        not null,
  signed_in_at     timestamptz not null,
  seen_at          timestamptz not null,
  authenticated_at timestamptz not null,
  constraint person_sessions_pkey primary key (id),
  constraint person_sessions_token_key unique (token_hash),
  constraint person_sessions_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_sessions_hash_length check (octet_length(token_hash) = 32),
  constraint person_sessions_user_agent_length check (char_length(user_agent) <= 500)
);
create index person_sessions_person_id_idx on person_sessions (person_id);
comment on table person_sessions is 'Sessions of people. Deleting one ends it with the next request.';
comment on column person_sessions.token_hash is 'SHA-256 of the token in the cookie. The token itself is never stored.';
comment on column person_sessions.ip_address is 'Where the person signed in from.';
comment on column person_sessions.user_agent is 'The browser, as it names itself. Empty: it does not.';
comment on column person_sessions.signed_in_at is 'A session ends seven days after it.';
comment on column person_sessions.seen_at is 'When it was used, written at most once in five minutes. A session ends twelve hours after it.';
comment on column person_sessions.authenticated_at is 'When the person last proved who it is. Keys, secrets and money need that within 15 minutes.';

create table person_code_steps (
  token_hash bytea       not null,
  person_id  uuid        not null,
  tries      integer     not null,
  expires_at timestamptz not null,
  constraint person_code_steps_pkey primary key (token_hash),
  constraint person_code_steps_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_code_steps_hash_length check (octet_length(token_hash) = 32),
  constraint person_code_steps_tries_range check (tries between 0 and 5)
);
create index person_code_steps_person_id_idx on person_code_steps (person_id);
create index person_code_steps_expires_at_idx on person_code_steps (expires_at);
comment on table person_code_steps is 'Sign-ins with a right password that wait for a one-time code.';
comment on column person_code_steps.token_hash is 'SHA-256 of the token in a cookie of the browser that has sent the password.';
comment on column person_code_steps.tries is 'Codes that were sent, of five. After them the sign-in begins again with the password.';

create table person_used_challenges (
  challenge_hash bytea       not null,
  expires_at     timestamptz not null,
  constraint person_used_challenges_pkey primary key (challenge_hash),
  constraint person_used_challenges_hash_length check (octet_length(challenge_hash) = 32)
);
create index person_used_challenges_expires_at_idx on person_used_challenges (expires_at);
comment on table person_used_challenges is 'Challenges of passkeys and visits to the identity provider that were used, so that each is good once. Those that are not used yet are in cookies alone.';
comment on column person_used_challenges.challenge_hash is 'SHA-256 of the challenge.';
comment on column person_used_challenges.expires_at is 'From then on it is rejected without this row.';

create table person_links (
  id         uuid        not null,
  person_id  uuid        not null,
  kind       text        not null,
  token_hash bytea       not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  constraint person_links_pkey primary key (id),
  constraint person_links_token_key unique (token_hash),
  constraint person_links_person_id_fkey foreign key (person_id) references people (id) on delete cascade,
  constraint person_links_kind_known check (kind in ('invitation', 'reset', 'sign-in', 'demo')),
  constraint person_links_hash_length check (octet_length(token_hash) = 32)
);
create index person_links_person_id_idx on person_links (person_id);
create index person_links_expires_at_idx on person_links (expires_at);
comment on table person_links is 'Links with which a person signs in once, or sets a password.';
comment on column person_links.kind is 'invitation: the first sign-in. reset: a new password. sign-in: made by the operator. demo: may be used again and again, and works in the demo alone.';
comment on column person_links.token_hash is 'SHA-256 of the token in the link. The token itself is never stored.';
comment on column person_links.used_at is 'When it was used. Null: it was not. A second use is rejected, but for demo.';

create table person_attempts (
  bucket       text        not null,
  count        integer     not null,
  window_start timestamptz not null,
  constraint person_attempts_pkey primary key (bucket)
);
create index person_attempts_window_start_idx on person_attempts (window_start);
comment on table person_attempts is 'How often someone tried to sign in, so that all processes limit it together.';
comment on column person_attempts.bucket is 'What is counted: a digest of an address, or of an address and an account.';
comment on column person_attempts.window_start is 'When counting began. It begins again after the window.';

create table invitation_counts (
  inviter_id   uuid        not null,
  count        integer     not null,
  counted_from timestamptz not null,
  constraint invitation_counts_pkey primary key (inviter_id)
);
comment on table invitation_counts is 'How many invitations were sent within a day, so that all processes bound them together.';
comment on column invitation_counts.inviter_id is 'The merchant whose people or programs invite. Zeros: the operator.';
comment on column invitation_counts.counted_from is 'When counting began. It begins again after 24 hours.';

-- Named tokens of programs (docs/design/people.md, "Tokens"). A token has one role, and never changes. The merchant of a
-- connection is stored beside it, because statements about a connection name its merchant. It never changes either.
create table back_office_tokens (
  id                      uuid        not null,
  token_hash              bytea       not null,
  name                    text        not null,
  role                    text        not null,
  merchant_ids            uuid[]      not null,
  facility_ids            uuid[],
  connection_ids          uuid[]      not null default '{}',
  connection_merchant_ids uuid[]      not null default '{}',
  scopes                  text[]      not null,
  prefix                  text        not null,
  created_by_kind         text        not null,
  created_by_name         text,
  created_by_id           text,
  created_at              timestamptz not null,
  expires_at              timestamptz,
  revoked_at              timestamptz,
  last_used_at            timestamptz,
  replaces_id             uuid,
  made_by_id              uuid,
  constraint back_office_tokens_pkey primary key (id),
  constraint back_office_tokens_hash_key unique (token_hash),
  constraint back_office_tokens_replaces_key unique (replaces_id),
  constraint back_office_tokens_hash_length check (octet_length(token_hash) = 32),
  constraint back_office_tokens_name_length check (char_length(name) between 1 and 255),
  constraint back_office_tokens_merchants_of_role
    check (case when role = 'merchant' then cardinality(merchant_ids) between 1 and 100 else merchant_ids = '{}' end),
  constraint back_office_tokens_role_known check (role in ('operator', 'warehouse', 'merchant', 'partner', 'support', 'monitoring')),
  constraint back_office_tokens_facilities_of_role
    check (facility_ids is null or role = 'warehouse' and cardinality(facility_ids) between 1 and 100),
  constraint back_office_tokens_connections_of_role
    check (case when role = 'partner' then cardinality(connection_ids) between 1 and 100 else connection_ids = '{}' end),
  constraint back_office_tokens_scopes_count check (cardinality(scopes) between 1 and 100),
  constraint back_office_tokens_merchants_of_connections check (cardinality(connection_merchant_ids) = cardinality(connection_ids))
);
create index back_office_tokens_merchants_idx on back_office_tokens using gin (merchant_ids, connection_merchant_ids);
comment on table back_office_tokens is 'Tokens of programs that use the back office. The token of OPERATOR_TOKEN is not among them.';
comment on column back_office_tokens.id is 'UUIDv7, made by the service. On the wire it has the prefix tok.';
comment on column back_office_tokens.token_hash is 'SHA-256 of the token. The token itself is never stored.';
comment on column back_office_tokens.name is 'What timeline and audit log call the program. It never changes.';
comment on column back_office_tokens.role is 'What the token may do. It never changes.';
comment on column back_office_tokens.merchant_ids is 'The merchants whose data a token with the role merchant sees. Empty for the other roles.';
comment on column back_office_tokens.facility_ids is 'The facilities that a token with the role warehouse is for. Null: all facilities, and for the other roles.';
comment on column back_office_tokens.connection_ids is 'The connections that a token with the role partner sees. Empty for the other roles.';
comment on column back_office_tokens.connection_merchant_ids is 'The merchant of each of connection_ids, in the same order.';
comment on column back_office_tokens.scopes is 'What of its role the token may do. Scopes that are added later are not among them. They never change.';
comment on column back_office_tokens.prefix is 'First characters of the token, by which people recognize it.';
comment on column back_office_tokens.created_by_kind is 'Who created it, as in timeline_entries.';
comment on column back_office_tokens.created_by_name is 'The name of who created it.';
comment on column back_office_tokens.created_by_id is 'The id on the wire of the token that created it. Null for OPERATOR_TOKEN and the command line.';
comment on column back_office_tokens.created_at is 'When it was created.';
comment on column back_office_tokens.expires_at is 'From this time on it is not valid. Null: it does not expire. A rotation brings it forward.';
comment on column back_office_tokens.revoked_at is 'When it was revoked. Null if it was not.';
comment on column back_office_tokens.last_used_at is 'When it was used, written at most once in five minutes. Null: it never was.';
comment on column back_office_tokens.made_by_id is 'The token that made it, with whose revocation it ends; after a rotation of that one, the token that replaced it. Null: none.';
comment on column back_office_tokens.replaces_id is 'The token that a rotation replaced with this one. Null if none. Unique: a token is rotated once.';

-- A view belongs to a person or to a token, not to a merchant (docs/design/console.md, "Saved views").
create table saved_views (
  owner_id   text        not null,
  slot       integer     not null,
  id         uuid        not null,
  name       text        not null,
  page       text        not null,
  query      text        not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint saved_views_pkey primary key (owner_id, slot),
  constraint saved_views_id_key unique (id),
  constraint saved_views_name_key unique (owner_id, page, name),
  constraint saved_views_slot_in_range check (slot between 1 and 50),
  constraint saved_views_owner_id_length check (char_length(owner_id) between 1 and 64),
  constraint saved_views_name_length check (char_length(name) between 1 and 100),
  constraint saved_views_page_length check (char_length(page) between 1 and 100),
  constraint saved_views_query_length check (char_length(query) <= 2000)
);
comment on table saved_views is 'Filters of lists that people of the back office keep under a name. Each sees its own.';
comment on column saved_views.owner_id is 'The id on the wire of the person or of the token; operator for OPERATOR_TOKEN.';
comment on column saved_views.slot is 'The primary key holds at most one view in each slot of an owner, so the number of views is bounded also for concurrent requests.';
comment on column saved_views.page is 'The page of the console, such as orders.';
comment on column saved_views.query is 'The query string of the page, without the question mark. It can contain a text that was searched for.';
