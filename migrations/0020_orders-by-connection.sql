-- A search of a connection's orders reads them by their ids, newest first, whatever their status (decision 0084). The
-- other indexes know single statuses only, and the primary key has the orders of all connections of a merchant.

create index orders_connection_idx on orders (connection_id, id);
