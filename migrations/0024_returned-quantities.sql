-- Some pieces of a line can come back while the others stay with the buyer (decision 0087).

alter table order_lines add column returned_quantity integer not null default 0;
alter table order_lines add constraint order_lines_returned_in_range check (returned_quantity between 0 and quantity);
alter table order_lines add constraint order_lines_returned_was_shipped check (returned_quantity = 0 or shipment_id is not null);
comment on column order_lines.returned_quantity is 'Pieces of the line that came back. Never more than its quantity, and none before it ships.';

update order_lines l
set returned_quantity = l.quantity
from shipments s
where s.merchant_id = l.merchant_id and s.order_id = l.order_id and s.id = l.shipment_id and s.status = 'returned';
