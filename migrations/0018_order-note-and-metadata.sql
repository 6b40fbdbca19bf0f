-- Partners send a note and their own data with an order, and get them back with it (decision 0081).

alter table orders add column note text;
alter table orders add column metadata json;
-- Not validated, because no stored order has either, and reading all of them would lock the table for long.
alter table orders add constraint orders_note_length check (char_length(note) between 1 and 1000) not valid;
alter table orders add constraint orders_metadata_is_object check (json_typeof(metadata) = 'object') not valid;
comment on column orders.note is 'The partner''s text for the people who handle the order; null if there is none.';
comment on column orders.metadata is 'The partner''s own data: text by key, sorted by key. Null stands for none.';
