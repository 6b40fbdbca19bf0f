-- Two views of a page with one name cannot be told apart (decision 0137). Of those that there are, the oldest keeps its name, and
-- the others get a part of their id, which no other name has.

update saved_views
set name = left(saved_views.name, 90) || ' ' || right(saved_views.id::text, 8)
from (
  select id, row_number() over (partition by owner_id, page, name order by created_at, id) as number
  from saved_views) as numbered
where numbered.id = saved_views.id and numbered.number > 1;

alter table saved_views add constraint saved_views_name_key unique (owner_id, page, name);
