-- The filters of lists that people of the back office keep under a name (decision 0137). A shared table: a view belongs to a
-- person or to a token, not to a merchant.

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
