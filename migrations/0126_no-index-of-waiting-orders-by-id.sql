-- orders_waiting_idx has replaced it.
drop index orders_routing_waiting_idx;
