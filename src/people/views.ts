import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isTaken, type Queryable } from "../platform/database/database.ts";
import { notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";

/** The filters of a list that a person keeps under a name. */
export type View = {
  readonly id: string;
  readonly name: string;
  /** The page of the console, such as `orders`. */
  readonly page: string;
  /** The query string of the page, without the question mark. */
  readonly query: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Views of one owner. The table has as many slots for each. */
const VIEWS_MAX = 50;

type ViewRequest = Pick<View, "name" | "page" | "query">;

const MISSING = notFound("view");

const LIMIT_REACHED: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${VIEWS_MAX} saved views is reached. Delete one first.`,
  members: { limit: "views", maximum: VIEWS_MAX },
};

const NAME_TAKEN = validationFailed([{ pointer: "/name", rule: "view_name" }]);

/** The audit log names the view, and not its query: it can contain the name of a buyer. */
const factOf = (id: string, page?: string) =>
  ({ merchantId: null, subject: "view", ids: [id], details: { page } }) as const;

/** Keeps a view for its owner, if the name is free. If concurrent requests wanted the same slot, it takes the next one. */
export async function createView(
  context: Context,
  ownerId: string,
  request: ViewRequest,
  by: Initiator,
): Promise<View | Problem> {
  for (;;) {
    const now = context.clock.now();
    const view: View = { ...request, id: context.newId(), createdAt: now, updatedAt: now };
    const isStored = await inTransaction(context, async (tx) => {
      const stored = await insertView(tx, ownerId, view);
      if (stored) await recordAudit(tx, context, by, factOf(view.id, view.page));
      return stored;
    });
    if (isStored) return view;
    const present = await listViews(context.db, ownerId);
    if (present.some(({ page, name }) => page === view.page && name === view.name)) return NAME_TAKEN;
    if (present.length >= VIEWS_MAX) return LIMIT_REACHED;
  }
}

export async function changeView(
  context: Context,
  ownerId: string,
  id: string,
  request: Partial<ViewRequest>,
  by: Initiator,
): Promise<View | Problem> {
  try {
    return await inTransaction(context, async (tx) => {
      const view = await updateView(tx, ownerId, id, request, context.clock.now());
      if (view === null) return MISSING;
      await recordAudit(tx, context, by, factOf(id, view.page));
      return view;
    });
  } catch (error) {
    if (isTaken(error)) return NAME_TAKEN;
    throw error;
  }
}

export const removeView = (
  context: Context,
  ownerId: string,
  id: string,
  by: Initiator,
): Promise<Problem | null> =>
  inTransaction(context, async (tx) => {
    if (!(await deleteView(tx, ownerId, id))) return MISSING;
    await recordAudit(tx, context, by, factOf(id));
    return null;
  });

/** Deletes the views of owners that are not stored any more. */
export async function deleteViewsOf(tx: Queryable, ownerIds: readonly string[]): Promise<void> {
  if (ownerIds.length === 0) return;
  await tx.query({
    name: "delete-views-of-owners",
    text: "delete from saved_views where owner_id = any($1::text[])",
    values: [ownerIds],
  });
}

type Row = { id: string; name: string; page: string; query: string; created_at: Date; updated_at: Date };

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
      select id, name, page, query, created_at, updated_at
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
async function insertView(tx: Queryable, ownerId: string, view: View): Promise<boolean> {
  const rows = await tx.query({
    name: "insert-view",
    text: `
      insert into saved_views (owner_id, slot, id, name, page, query, created_at, updated_at)
      select $1, free.slot, $2, $3, $4, $5, $6, $6
      from (
        select slot from generate_series(1, 50) as slot
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
async function updateView(
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
      returning id, name, page, query, created_at, updated_at`,
    values: [ownerId, id, name, page, query, now],
  });
  return row === undefined ? null : toView(row);
}

/** Whether the owner had the view. */
async function deleteView(tx: Queryable, ownerId: string, id: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-view",
    text: "delete from saved_views where owner_id = $1 and id = $2 returning id",
    values: [ownerId, id],
  });
  return rows.length > 0;
}
