import { before } from "../../platform/time.ts";
import type { AuthKeys } from "../auth/auth.ts";
import type { PeopleContext } from "../context.ts";
import { SEEN_INTERVAL_MS } from "../person.ts";
import { isLive, type PersonSession } from "./session.ts";
import { cookieValue, sessionCookieName, signedText } from "./session-cookie.ts";
import { readSession, recordSessionUse } from "./sessions-sql.ts";

/**
 * The session of a `Cookie` header: one read by an index, with every request and not cached, so a session that was ended is
 * rejected by the very next request, in every process. Null if there is none that is good.
 */
export async function findSession(
  { db, clock, log }: Pick<PeopleContext, "db" | "clock" | "log">,
  { cookieSecret, isSecure }: AuthKeys,
  cookie: string | undefined,
): Promise<PersonSession | null> {
  const value = cookieValue(cookie, sessionCookieName(isSecure));
  const token = value === null ? null : signedText(value, cookieSecret);
  const found = token === null ? null : await readSession(db, token);
  const now = clock.now();
  if (found === null || found.person.disabledAt !== null || !isLive(found.session, now)) return null;
  const staleBefore = before(now, SEEN_INTERVAL_MS);
  if (found.session.seenAt <= staleBefore)
    // The request succeeds without it.
    await recordSessionUse(db, found.session.id, now, staleBefore).catch((err: unknown) =>
      log.warn({ err }, "use of session not recorded"),
    );
  return found;
}
