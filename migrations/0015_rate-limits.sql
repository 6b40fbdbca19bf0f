-- The rate limit of a connection holds over all processes (decision 0076). The requests of a connection have positions on
-- a line of time, one after another at the interval of the limit. This table keeps how far the line is granted to processes.
--
-- Unlogged: a grant writes no log and waits for no disk. After a crash of the server the table is empty, and every
-- allowance is full.

create unlogged table rate_limits (
  merchant_id   uuid   not null,
  connection_id uuid   not null,
  granted_from  bigint not null,
  granted_to    bigint not null,
  constraint rate_limits_pkey primary key (merchant_id, connection_id),
  constraint rate_limits_connection_fkey foreign key (merchant_id, connection_id) references connections (merchant_id, id),
  constraint rate_limits_granted_in_order check (granted_from <= granted_to)
) with (fillfactor = 50);
comment on table rate_limits is 'How far the requests of each connection are granted to processes. A row appears with the first request that counts.';
comment on column rate_limits.granted_from is 'Where the newest grant begins, in microseconds since 1970.';
comment on column rate_limits.granted_to is 'Where the newest grant ends, in microseconds since 1970. The next one begins here, or now if that is later.';
