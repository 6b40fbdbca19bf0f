-- Facts that staff record: who entered a payment of a merchant, and how heavy a parcel is; and the reference on a return
-- slip, by which a warehouse finds the order of a parcel that is at its door (decision 0148). What was recorded before has
-- none of the first two. The index has only returns with a reference, which are few.

alter table account_entries add column actor_kind text;
alter table account_entries add column actor_name text;
alter table account_entries add column actor_id text;
alter table account_entries add constraint account_entries_actor_of_payment
  check (actor_kind is null or kind = 'payment') not valid;
alter table account_entries add constraint account_entries_actor_id_length check (char_length(actor_id) <= 100) not valid;
comment on column account_entries.actor_kind is 'Who recorded a payment, as in timeline_entries. Null for charges and refunds, and for earlier payments.';
comment on column account_entries.actor_name is 'The name of who recorded it.';
comment on column account_entries.actor_id is 'The id on the wire of who recorded it. Null if there is none.';

alter table shipments add column weight_grams integer;
alter table shipments add constraint shipments_weight_positive check (weight_grams > 0) not valid;
comment on column shipments.weight_grams is 'Weight of the parcel as the warehouse weighed it, in grams. Null if it was not weighed.';

create index order_returns_by_reference_idx on order_returns (reference) where reference is not null;
