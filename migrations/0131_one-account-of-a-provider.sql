-- A person was found by its mail address although it had an account of the identity provider already. So who got the mailbox later
-- got the person as well, and kept it when the address was given to another person (decision 0219). The first account stays. What
-- the later ones have opened ends.
with later as (
  delete from person_accounts a
  using person_accounts first
  where first.person_id = a.person_id and first.provider_id = a.provider_id
    and (first.created_at, first.id) < (a.created_at, a.id)
  returning a.person_id
), ended as (
  delete from person_sessions s using later where s.person_id = later.person_id
)
update people p
set sign_in_version = p.sign_in_version + 1
from (select distinct person_id from later) l
where p.id = l.person_id;

alter table person_accounts add constraint person_accounts_person_key unique (person_id, provider_id);
-- The constraint's index begins with the person too.
drop index person_accounts_person_id_idx;
