-- When a shipment was handed to its carrier, and when the recipient got it. Partners show both to the buyer (decision
-- 0085). Shipments from before this migration have neither time.

alter table shipments
  add column shipped_at   timestamptz,
  add column delivered_at timestamptz;
alter table shipments add constraint shipments_delivered_since_shipped check (delivered_at is null or shipped_at is not null);
comment on column shipments.shipped_at is 'When the service learned that the carrier has the shipment. Null while it is pending.';
comment on column shipments.delivered_at is 'When the warehouse reported that the recipient has the shipment. Null until then.';
