import { byService, recordAudit } from "../audit/record-audit.ts";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type MadeLink, makeLink } from "./links.ts";
import {
  hasActiveOperator,
  hasPeople,
  insertPerson,
  lockPeople,
  lockPerson,
  readPersonByEmail,
} from "./people-sql.ts";
import { newPerson, type PeopleContext, type Person, personFact } from "./person.ts";

/** No mail arrives there. The operator replaces it by its own address, so that it can reset its password. */
export const FIRST_OPERATOR_EMAIL = "operator@localhost";

/**
 * Makes a person with all rights if there is no person at all, so that one can sign in and invite the others. Processes that
 * start together make one.
 */
export async function ensureFirstOperator(context: PeopleContext): Promise<void> {
  if (await hasPeople(context.db)) return;
  const by = byService("createFirstOperator");
  await inTransaction(context, async (tx) => {
    await lockPeople(tx);
    if (await hasPeople(tx)) return;
    const fields = { name: "Operator", email: FIRST_OPERATOR_EMAIL, grants: [{ role: "operator" }] as const };
    const person = newPerson(context, fields, by.actor);
    await insertPerson(tx, person);
    await recordAudit(tx, context, by, personFact(person));
  });
}

/** The first operator, as long as no operator has signed in. Null: one has, or the first is disabled or not there any more. */
export async function awaitsFirstOperator({ db }: { readonly db: Queryable }): Promise<Person | null> {
  if (await hasActiveOperator(db)) return null; // Others can then let a person in who cannot sign in.
  const person = await readPersonByEmail(db, FIRST_OPERATOR_EMAIL);
  return person?.acceptedAt === null && person.disabledAt === null ? person : null;
}

/** A link for the first operator, if it is awaited. Of processes that start together, the link of the last one is valid. */
export async function firstOperatorLink(context: PeopleContext): Promise<MadeLink | null> {
  const person = await awaitsFirstOperator(context);
  return (
    person &&
    inTransaction(context, async (tx) => {
      await lockPerson(tx, person.id);
      return (await awaitsFirstOperator({ db: tx })) && makeLink(tx, context, person.id, "sign-in");
    })
  );
}
