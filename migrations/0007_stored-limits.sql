-- Limits of what one connection can store (decision 0064): overrides by the operator, numbers of endpoints that need no
-- row of a deleted one, and one recovery of each kind for an endpoint.

alter table connections
  add column limits jsonb not null default '{}',
  add column last_endpoint_number integer not null default 0,
  add constraint connections_limits_object check (jsonb_typeof(limits) = 'object'),
  add constraint connections_last_endpoint_number_not_negative check (last_endpoint_number >= 0);
comment on column connections.limits is 'Maximum by name of the stored limits that the operator has changed; all others have their defaults (src/merchants/limits.ts).';
comment on column connections.last_endpoint_number is 'The highest number that an endpoint of the connection has had. Changed under the row''s lock.';

update connections c
set last_endpoint_number = w.last_number
from (
  select e.merchant_id, e.connection_id, max(e.number) as last_number
  from webhook_endpoints e
  group by e.merchant_id, e.connection_id) w
where c.merchant_id = w.merchant_id and c.id = w.connection_id;

-- Two indexes instead of one over all endpoints: what publishes events reads live endpoints only, however many were
-- deleted, and the job that removes deleted ones reads nothing else.
create unique index webhook_endpoints_live_key on webhook_endpoints (merchant_id, connection_id, number)
  where status <> 'deleted';
create index webhook_endpoints_deleted_idx on webhook_endpoints (merchant_id, connection_id, id)
  where status = 'deleted';
alter table webhook_endpoints drop constraint webhook_endpoints_number_key;
comment on table webhook_endpoints is 'A URL to which the events of a connection are delivered. A deleted endpoint keeps its row until nothing of its log is left.';

-- An endpoint has at most one recovery of each kind: a further request changes it. Open ones become one, which keeps the
-- oldest id, starts again at the earliest time, and ends at the latest one. Finished ones have no further use.
delete from webhook_recoveries where finished_at is not null;
update webhook_recoveries r
set since = m.since, until = m.until, pass = 1,
    position = (lpad(to_hex(floor(extract(epoch from m.since) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
from (
  select o.merchant_id, o.endpoint_id, o.includes_failed, (array_agg(o.id order by o.id))[1] as id, min(o.since) as since,
         max(o.until) as until
  from webhook_recoveries o
  group by o.merchant_id, o.endpoint_id, o.includes_failed
  having count(*) > 1) m
where r.merchant_id = m.merchant_id and r.id = m.id;
delete from webhook_recoveries r
where exists (
  select from webhook_recoveries o
  where o.merchant_id = r.merchant_id and o.endpoint_id = r.endpoint_id and o.includes_failed = r.includes_failed
    and o.id < r.id);
create unique index webhook_recoveries_endpoint_key on webhook_recoveries (merchant_id, endpoint_id, includes_failed);
comment on table webhook_recoveries is 'Requests of partners to send pending or failed deliveries again. Processed in batches, and resumed after a crash. A request changes the row of an earlier one, open or finished.';
