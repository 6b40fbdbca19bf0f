-- Foreign keys to a row that the same transaction has written or locked. A check of them costs as much as an insert, and
-- finds what the transaction knows (decision 0167). The line of a reservation, the product of a line and the connection of
-- an order keep their keys.

alter table order_lines drop constraint order_lines_order_fkey;
alter table ledger_entries drop constraint ledger_entries_order_fkey;
alter table stock_reservations drop constraint stock_reservations_stock_fkey;

comment on table stock_reservations is 'Stock reserved for an order line, from the routing of its order until the line ships or the order is settled. The same transaction adds it to facility_stock.reserved. The foreign key prevents deleting a line whose stock is still reserved.';
