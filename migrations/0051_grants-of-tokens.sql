-- Tokens for named facilities and for named connections (decision 0120). A token still has one role, and never changes.
--
-- The merchant of a connection is stored beside it, because statements about a connection name its merchant. It never
-- changes either.

alter table back_office_tokens
  add column facility_ids uuid[],
  add column connection_ids uuid[] not null default '{}',
  add column connection_merchant_ids uuid[] not null default '{}';
alter table back_office_tokens drop constraint back_office_tokens_role_known;
alter table back_office_tokens add constraint back_office_tokens_role_known
  check (role in ('operator', 'warehouse', 'merchant', 'partner', 'support', 'monitoring'));
alter table back_office_tokens add constraint back_office_tokens_facilities_of_role
  check (facility_ids is null or role = 'warehouse' and cardinality(facility_ids) between 1 and 100);
alter table back_office_tokens add constraint back_office_tokens_connections_of_role
  check (case when role = 'partner' then cardinality(connection_ids) between 1 and 100 else connection_ids = '{}' end);
alter table back_office_tokens add constraint back_office_tokens_merchants_of_connections
  check (cardinality(connection_merchant_ids) = cardinality(connection_ids));
comment on column back_office_tokens.facility_ids is 'The facilities that a token with the role warehouse is for. Null: all facilities, and for the other roles.';
comment on column back_office_tokens.connection_ids is 'The connections that a token with the role partner sees. Empty for the other roles.';
comment on column back_office_tokens.connection_merchant_ids is 'The merchant of each of connection_ids, in the same order.';
