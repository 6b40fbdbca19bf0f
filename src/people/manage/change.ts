import { type Grant, isWithin } from "../../access/grant.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import type { PeopleContext } from "../context.ts";
import { lockPerson, readPerson } from "../people-sql.ts";
import type { Person } from "../person.ts";
import { type Giver, presentGrants } from "./giver.ts";

/** Who changes whom. */
export type Change = {
  readonly personId: string;
  readonly giver: Giver;
  readonly by: Initiator;
};

/**
 * Changes of people wait for each other, and for a sign-in that is being finished and what a person does with its own account: an
 * invitation that is sent again must not outlive the sign-in that accepts the earlier one. Null if there is no such person, or if it may do more than the giver.
 * @param work receives the rights that the giver has now
 */
export const change = <Result>(
  context: PeopleContext,
  { personId, giver }: Change,
  work: (tx: Queryable, person: Person, own: readonly Grant[]) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(context, async (tx) => {
    const own = await presentGrants(tx, context, giver);
    await lockPerson(tx, personId);
    const person = await readPerson(tx, personId);
    return person?.grants.every((grant) => isWithin(grant, own)) ? work(tx, person, own) : null;
  });

export type Changed = Person | Problem | null;
