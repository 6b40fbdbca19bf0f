-- The id of the token that did something, beside its name (decision 0077): two tokens may have the same name. It is the id
-- on the wire, such as tok_01m7y7np16fe68bxp4h91tdmdn, so that other kinds of callers can follow. Rows from before have none.

alter table timeline_entries add column actor_id text;
alter table timeline_entries add constraint timeline_entries_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column timeline_entries.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

alter table audit_entries add column actor_id text;
alter table audit_entries add constraint audit_entries_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column audit_entries.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

alter table refunds add column actor_id text;
alter table refunds add constraint refunds_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column refunds.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

alter table order_returns add column actor_id text;
alter table order_returns add constraint order_returns_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column order_returns.actor_id is 'The id on the wire of the token that was used. Null if there was none.';

alter table stock_movements add column actor_id text;
alter table stock_movements add constraint stock_movements_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column stock_movements.actor_id is 'The id on the wire of the token that was used. Null if there was none.';
