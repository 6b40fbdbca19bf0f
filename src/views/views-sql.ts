import type { Queryable } from "../platform/database/database.ts";
import { VIEWS_MAX, type View, type ViewRequest } from "./view.ts";

type Row = { id: string; name: string; page: string; query: string; created_at: Date; updated_at: Date };

const COLUMNS = "id, name, page, query, created_at, updated_at";

const toView = ({ created_at, updated_at, ...view }: Row): View => ({
  ...view,
  createdAt: created_at,
  updatedAt: updated_at,
});

/** The views of an owner, by name: at most VIEWS_MAX. */
export async function listViews(db: Queryable, ownerId: string): Promise<View[]> {
  const rows = await db.query<Row>({
    name: "list-views",
    text: `
      select ${COLUMNS}
      from saved_views
      where owner_id = $1
      order by lower(name), id`,
    values: [ownerId],
  });
  return rows.map(toView);
}

/**
 * Stores a view in the lowest free slot of its owner. False if no slot is free, if a concurrent request has taken this one, or
 * if another view of the page has the name.
 */
export async function insertView(tx: Queryable, ownerId: string, view: View): Promise<boolean> {
  const rows = await tx.query({
    name: "insert-view",
    text: `
      insert into saved_views (owner_id, slot, id, name, page, query, created_at, updated_at)
      select $1, free.slot, $2, $3, $4, $5, $6, $6
      from (
        select slot from generate_series(1, ${VIEWS_MAX}) as slot
        except
        select slot from saved_views where owner_id = $1
        order by slot
        limit 1) as free
      on conflict do nothing
      returning slot`,
    values: [ownerId, view.id, view.name, view.page, view.query, view.createdAt],
  });
  return rows.length > 0;
}

/** The changed view. Null if the owner has none with this id. An absent field keeps its value. Throws if the name is taken. */
export async function updateView(
  tx: Queryable,
  ownerId: string,
  id: string,
  { name = null, page = null, query = null }: { [Field in keyof ViewRequest]?: string | null },
  now: Date,
): Promise<View | null> {
  const [row] = await tx.query<Row>({
    name: "update-view",
    text: `
      update saved_views
      set name = coalesce($3, name), page = coalesce($4, page), query = coalesce($5, query), updated_at = $6
      where owner_id = $1 and id = $2
      returning ${COLUMNS}`,
    values: [ownerId, id, name, page, query, now],
  });
  return row === undefined ? null : toView(row);
}

/** Whether the owner had the view. */
export async function deleteView(tx: Queryable, ownerId: string, id: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-view",
    text: "delete from saved_views where owner_id = $1 and id = $2 returning id",
    values: [ownerId, id],
  });
  return rows.length > 0;
}
