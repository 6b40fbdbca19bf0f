import { type BackOfficeCaller, type Grant, grantsWith, isWithin } from "../../access/grant.ts";
import { isValid } from "../../merchants/keys/validity.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { lockTokens, readToken } from "../../tokens/tokens-sql.ts";
import { lockPeople, readPerson } from "../people-sql.ts";

/** Who gives access to others: a person, or a program with a token. Its grants are those that the route admits. */
export type Giver = Pick<BackOfficeCaller, "type" | "id" | "grants" | "session">;

/**
 * The rights that a giver has now, of those with which its request was admitted. People are locked until the transaction
 * ends, and for a program tokens too: what takes rights away from the giver at the same time comes before, and counts here,
 * or waits. So a right that was taken away never lives on in what its holder gave (decision 0154).
 */
export async function presentGrants(
  tx: Queryable,
  { clock }: Pick<Context, "clock">,
  { type, id, grants }: Giver,
): Promise<readonly Grant[]> {
  await lockPeople(tx);
  if (id === null) return grants; // `OPERATOR_TOKEN` and the command line: no row holds their rights.
  if (type === "token") return (await isTokenValid(tx, id, clock.now())) ? grants : [];
  const person = await readPerson(tx, fromTypeId("per", id) ?? id);
  if (person === null || person.disabledAt !== null) return [];
  const admitted = grants.map(({ role }) => role);
  return grantsWith(person.grants, admitted);
}

async function isTokenValid(tx: Queryable, id: string, now: Date): Promise<boolean> {
  await lockTokens(tx);
  const token = await readToken(tx, fromTypeId("tok", id) ?? id);
  return token !== null && isValid(token, now);
}

/** Null: the giver may give all of these rights now. */
export async function checkGiving(
  tx: Queryable,
  context: Pick<Context, "clock">,
  giver: Giver,
  given: readonly Grant[],
): Promise<Problem | null> {
  const own = await presentGrants(tx, context, giver);
  return given.every((grant) => isWithin(grant, own)) ? null : rightsLost;
}

/** 403: an earlier check has admitted the request. */
export const rightsLost: Problem = {
  code: "forbidden",
  detail: "Your own rights were changed at the same time, and no longer suffice. Nothing was changed.",
};
