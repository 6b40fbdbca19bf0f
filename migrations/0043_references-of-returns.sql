-- A return can name its reference (decision 0105). A retry after a lost response is then recognized, and brings nothing
-- back twice. Earlier returns have none.

alter table order_returns add column reference text;
alter table order_returns add column request_hash bytea;
alter table order_returns add constraint order_returns_reference_length check (char_length(reference) between 1 and 255);
alter table order_returns add constraint order_returns_hash_with_reference
  check ((reference is null) = (request_hash is null));
create unique index order_returns_reference_key on order_returns (merchant_id, order_id, reference)
  where reference is not null;
comment on column order_returns.reference is 'The caller''s name for the return. An order has one return for each reference. Null if the caller gave none.';
comment on column order_returns.request_hash is 'SHA-256 of what the request says, without the note. A retry has the same. Null without a reference.';
