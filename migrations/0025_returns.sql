-- What came back and why, for the back office (decision 0088). Test orders have no returns here.

create table order_returns (
  merchant_id uuid        not null,
  order_id    uuid        not null,
  id          uuid        not null,
  reason      text,
  condition   text,
  note        text,
  restocked   boolean     not null,
  refund_id   uuid,
  actor_kind  text        not null,
  actor_name  text,
  created_at  timestamptz not null,
  constraint order_returns_pkey primary key (merchant_id, order_id, id),
  constraint order_returns_order_fkey foreign key (merchant_id, order_id) references orders (merchant_id, id),
  constraint order_returns_reason_known check (reason in
    ('undeliverable', 'refused', 'unwanted', 'damaged', 'defective', 'wrong_item', 'not_as_described', 'other')),
  constraint order_returns_condition_known check (condition in ('unopened', 'opened', 'damaged', 'defective')),
  constraint order_returns_note_length check (char_length(note) between 1 and 1000),
  constraint order_returns_actor_known check (actor_kind in ('operator', 'warehouse', 'merchant', 'service'))
);
comment on table order_returns is 'Returns of real orders. Rows are only added. Only the note ever changes: it is erased with the personal data of the order.';
comment on column order_returns.reason is 'Why the goods came back; null if nobody said.';
comment on column order_returns.condition is 'Of all returned goods; null if nobody said.';
comment on column order_returns.note is 'The caller''s own text. Null if there is none.';
comment on column order_returns.restocked is 'The request added the goods to the stock of the facility that sent them.';
comment on column order_returns.refund_id is 'The refund of the same request; null if it requested none.';
comment on column order_returns.actor_kind is 'Who recorded it, as in timeline_entries.';

create table order_return_lines (
  merchant_id uuid    not null,
  order_id    uuid    not null,
  return_id   uuid    not null,
  line_id     uuid    not null,
  quantity    integer not null,
  constraint order_return_lines_pkey primary key (merchant_id, order_id, return_id, line_id),
  constraint order_return_lines_return_fkey foreign key (merchant_id, order_id, return_id)
    references order_returns (merchant_id, order_id, id),
  constraint order_return_lines_line_fkey foreign key (merchant_id, order_id, line_id)
    references order_lines (merchant_id, order_id, id),
  constraint order_return_lines_quantity_positive check (quantity > 0)
);
comment on table order_return_lines is 'The pieces of lines that a return brought back.';
