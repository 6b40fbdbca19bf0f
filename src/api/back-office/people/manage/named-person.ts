import { Type } from "typebox";
import { isWithin } from "../../../../access/grant.ts";
import type { Initiator } from "../../../../audit/initiator.ts";
import type { Change, Changed } from "../../../../people/manage/change.ts";
import { readPerson, readPersonByEmail } from "../../../../people/people-sql.ts";
import { normalEmail, type Person } from "../../../../people/person.ts";
import type { Context } from "../../../../platform/context.ts";
import { fromTypeId } from "../../../../platform/ids.ts";
import { isProblem, notFound, type Problem } from "../../../../platform/wire/problems.ts";
import { isStorableText } from "../../../../platform/wire/text.ts";
import type { RouteResponse } from "../../../http/route.ts";
import type { BackOfficeCaller } from "../../access.ts";
import { toWirePerson } from "./person-wire.ts";

export const PersonIdParams = Type.Object({
  id: Type.String({ description: "Id of the person, or its mail address." }),
});

export const missing = notFound("person");

/** The person that a path names. Null if it is missing, or may do more than the caller (decision 0077). */
export async function findPerson(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<Person | null> {
  const id = fromTypeId("per", text);
  const isEmail = text.includes("@") && isStorableText(text);
  const byEmail = isEmail ? readPersonByEmail(db, normalEmail(text)) : null;
  const person = id === null ? await byEmail : await readPerson(db, id);
  return person?.grants.every((grant) => isWithin(grant, caller.grants)) ? person : null;
}

type PersonRequest = {
  readonly caller: BackOfficeCaller;
  readonly params: { readonly id: string };
  readonly by: Initiator;
};

/** Changes the person that a path names. */
export async function changeNamed(
  context: Context,
  { caller, params, by }: PersonRequest,
  work: (request: Change) => Promise<Changed>,
): Promise<RouteResponse | Problem> {
  const person = await findPerson(context, caller, params.id);
  return person === null ? missing : answer(await work({ personId: person.id, giver: caller, by }));
}

export const answer = (changed: Person | Problem | null, status = 200): RouteResponse | Problem => {
  if (changed === null) return missing;
  return isProblem(changed) ? changed : { status, body: toWirePerson(changed) };
};
