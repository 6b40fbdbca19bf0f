-- A key is rotated with an overlap, and shows when it was last used (decision 0143). Uses are in a table of their own, so that
-- the rows that every request of a partner reads are not written for them.

alter table api_keys add column replaced_by_id uuid;
comment on column api_keys.replaced_by_id is 'The key that a rotation has put in its place. Null if it was not rotated. A key is rotated once.';

create table api_key_uses (
  key_id       uuid        not null,
  last_used_at timestamptz not null,
  constraint api_key_uses_pkey primary key (key_id)
);
comment on table api_key_uses is 'When each key was last used. A shared table, like api_keys.';
comment on column api_key_uses.key_id is 'The id of the key in api_keys.';
comment on column api_key_uses.last_used_at is 'Written at most once in five minutes by each process.';
