-- Before PostgreSQL 18, a sort counts as extremely expensive while sorting is disabled, so the server compiled the first statement
-- of place_orders for each group. The sessions of the service disable compiling, but not those between the nodes of Citus.

alter function place_orders(uuid, json, text, uuid[], uuid[], uuid[], uuid[], uuid[], integer[], bigint[], timestamptz)
  set jit = off;
