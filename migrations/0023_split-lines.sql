-- A line of which only some pieces ship is split into two lines (decision 0086). There is no foreign key: lines are
-- deleted with their order only, and the erasure of test orders would pay for the check.

alter table order_lines add column split_from uuid;
comment on column order_lines.split_from is 'The line of the request that this line was split from; null for the lines of the request.';
