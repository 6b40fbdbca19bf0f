import type { PeopleContext } from "../context.ts";
import { isEnabled } from "../people-sql.ts";
import { SESSIONS_MAX } from "../person.ts";
import { deleteOldestSessions } from "../sessions/sessions-sql.ts";

/** Before a session is stored, however the person signs in: rejects it for a person who is disabled, and makes room. */
export const beforeSession =
  ({ db }: Pick<PeopleContext, "db">) =>
  async ({ userId }: { userId: string }): Promise<boolean> => {
    if (!(await isEnabled(db, userId))) return false;
    await deleteOldestSessions(db, userId, SESSIONS_MAX - 1);
    return true;
  };
