-- Who did what, and who read personal data (decision 0070). A row is written in the transaction of the change that it
-- records, and never changed. The service deletes rows by their age alone.
--
-- The id is a UUIDv7, so the index on it is the index by time. An entry that belongs to no merchant, such as one about a
-- facility, has the zero UUID as its merchant: the merchant comes first in the primary key of every table of merchants.

create table audit_entries (
  merchant_id   uuid        not null,
  id            uuid        not null,
  connection_id uuid,
  action        text        not null,
  actor_kind    text        not null,
  actor_name    text,
  request_id    text,
  subject_type  text        not null,
  subject_ids   uuid[]      not null,
  details       json        not null,
  created_at    timestamptz not null,
  constraint audit_entries_pkey primary key (merchant_id, id),
  constraint audit_entries_action_length check (char_length(action) between 1 and 100),
  constraint audit_entries_actor_name_length check (char_length(actor_name) <= 255),
  constraint audit_entries_request_id_length check (char_length(request_id) <= 255),
  constraint audit_entries_subject_ids_bounded check (cardinality(subject_ids) <= 500),
  constraint audit_entries_details_bounded check (octet_length(details::text) <= 20000)
);
create index audit_entries_id_idx on audit_entries (id);
create index audit_entries_subject_ids_idx on audit_entries using gin (subject_ids);
comment on table audit_entries is 'Changes through the APIs, and reads of personal data in the back office. Rows are only added, and deleted when they are older than AUDIT_RETENTION_DAYS.';
comment on column audit_entries.merchant_id is 'The zero UUID for an entry that belongs to no merchant.';
comment on column audit_entries.action is 'The operation of the API, such as createKey.';
comment on column audit_entries.actor_name is 'The person, the program, or for a partner the id of its key.';
comment on column audit_entries.subject_type is 'The prefix of the ids on the wire; product for products, whose ids have none.';
comment on column audit_entries.subject_ids is 'What was changed or read. A list that was read has several. Empty for an export of all merchants.';
comment on column audit_entries.details is 'An object of texts, each cut. Never a key, a secret or personal data of a buyer.';
