import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isTaken } from "../platform/database/database.ts";
import { notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import { VIEWS_MAX, type View, type ViewRequest } from "./view.ts";
import { deleteView, insertView, listViews, updateView } from "./views-sql.ts";

const MISSING = notFound("view");

const LIMIT_REACHED: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${VIEWS_MAX} saved views is reached. Delete one first.`,
  members: { limit: "views", maximum: VIEWS_MAX },
};

const NAME_TAKEN = validationFailed([
  { pointer: "/name", detail: "must differ from the names of your other views of this page" },
]);

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
