-- A charge is found by its id alone: by GET /api/charges/{id}, and for the account entries, which have the ids of charges
-- (decision 0091). The first charge for goods has the id of its order, so the index leaves it out, and creation does not
-- maintain it. ledger_entries_pkey finds that one.

create index ledger_entries_id_idx on ledger_entries (id) where kind <> 'goods' or attempt > 1;
