import { type BackOfficeCaller, type Grant, grantsWith } from "../../../access/grant.ts";
import { isValid } from "../../../merchants/keys/validity.ts";
import { isLive } from "../../../people/sessions/session.ts";
import { readSessionsById } from "../../../people/sessions/sessions-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { readTokens } from "../../../tokens/tokens-sql.ts";

/** The roles that the route of updates admits. */
const UPDATE_ROLES = ["operator", "warehouse", "merchant", "partner", "support"] as const;

/**
 * Whether callers still have the access with which they came: their sessions and tokens are good, and their grants are the
 * same. Two statements for any number of callers. A look at a session is no use of it.
 */
export async function stillAdmitted(
  { db, clock }: Pick<Context, "db" | "clock">,
  callers: readonly BackOfficeCaller[],
): Promise<(caller: BackOfficeCaller) => boolean> {
  const sessionIds = callers.flatMap(({ session }) => (session === undefined ? [] : [session.id]));
  const tokenIds = callers.flatMap((caller) => tokenIdOf(caller) ?? []);
  const [sessions, tokens] = await Promise.all([
    sessionIds.length === 0 ? [] : readSessionsById(db, [...new Set(sessionIds)]),
    tokenIds.length === 0 ? [] : readTokens(db, [...new Set(tokenIds)]),
  ]);
  const now = clock.now();
  const grantsOf = new Map<string, readonly Grant[]>();
  for (const { session, person } of sessions)
    if (isLive(session, now) && person.disabledAt === null) grantsOf.set(session.id, person.grants);
  for (const token of tokens) if (isValid(token, now)) grantsOf.set(token.id, [token.grant]);
  return (caller) => {
    if (caller.type === "token" && caller.id === null) return true; // `OPERATOR_TOKEN` changes with a restart only.
    const grants = grantsOf.get(caller.session?.id ?? tokenIdOf(caller) ?? "");
    return grants !== undefined && textOf(grants) === textOf(caller.grants);
  };
}

const tokenIdOf = ({ type, id }: BackOfficeCaller): string | null =>
  type === "token" && id !== null ? fromTypeId("tok", id) : null;

const textOf = (grants: readonly Grant[]): string =>
  grantsWith(grants, UPDATE_ROLES)
    .map((grant) => JSON.stringify(grant))
    .sort()
    .join();
