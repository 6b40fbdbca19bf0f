-- Requests to hosts that have never returned 2xx are limited (decision 0063). So that a process knows the others when it
-- starts, each endpoint keeps the host that has returned 2xx to it. A changed URL leads to a host that has to do so anew.

alter table webhook_endpoint_states add column proven_host text;
comment on column webhook_endpoint_states.proven_host is 'The host and port that returned 2xx last. Null while none has. Not that of the URL if the URL was changed since.';
