import type { Grant } from "../../access/grant.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import type { PeopleContext } from "../context.ts";
import { deleteLinks } from "../links/links-sql.ts";
import { type MadeLink, makeLink } from "../links/make-link.ts";
import { lockPeople, readPerson } from "../people-sql.ts";
import { normalEmail, type Person } from "../person.ts";
import { personFact } from "../person-fact.ts";
import { deleteSessions } from "../sessions/sessions-sql.ts";
import { personExists } from "./invite-person.ts";
import { countOtherOperators, replaceGrants, setDisabled, setNameAndEmail } from "./manage-sql.ts";

type Changed = Person | Problem | null;

/** Changes of people wait for each other. Null if there is no such person. */
const change = (
  context: PeopleContext,
  personId: string,
  work: (tx: Queryable, person: Person) => Promise<Changed>,
): Promise<Changed> =>
  inTransaction(context, async (tx) => {
    await lockPeople(tx);
    const person = await readPerson(tx, personId);
    return person === null ? null : work(tx, person);
  });

const isOperator = ({ grants }: Pick<Person, "grants">): boolean =>
  grants.some(({ role }) => role === "operator");

/** Whether the person is the only operator who can sign in. */
const isLastOperator = async (tx: Queryable, person: Person): Promise<boolean> =>
  isOperator(person) && person.disabledAt === null && (await countOtherOperators(tx, person.id)) === 0;

/** Replaces what a person may do. It counts from its next request on. */
export const changeGrants = (
  context: PeopleContext,
  personId: string,
  grants: readonly Grant[],
  by: Initiator,
): Promise<Changed> =>
  change(context, personId, async (tx, person) => {
    const changed = { ...person, grants };
    if (JSON.stringify(person.grants) === JSON.stringify(grants)) return person;
    if (!isOperator(changed) && (await isLastOperator(tx, person))) return lastOperator;
    await replaceGrants(tx, personId, grants);
    await recordAudit(tx, context, by, personFact(changed));
    return changed;
  });

/** The person cannot sign in any more. Its sessions and its links end. */
export const disablePerson = (context: PeopleContext, personId: string, by: Initiator): Promise<Changed> =>
  change(context, personId, async (tx, person) => {
    if (person.disabledAt !== null) return person;
    if (await isLastOperator(tx, person)) return lastOperator;
    const now = context.clock.now();
    await setDisabled(tx, personId, now, now);
    const sessionsEnded = await deleteSessions(tx, personId);
    await deleteLinks(tx, personId, ["invitation", "reset", "sign-in", "demo"]);
    await recordAudit(tx, context, by, personFact(person, { sessionsEnded }));
    return { ...person, disabledAt: now };
  });

export const enablePerson = (context: PeopleContext, personId: string, by: Initiator): Promise<Changed> =>
  change(context, personId, async (tx, person) => {
    if (person.disabledAt === null) return person;
    await setDisabled(tx, personId, null, context.clock.now());
    await recordAudit(tx, context, by, personFact(person));
    return { ...person, disabledAt: null };
  });

/** Signs a person out everywhere. */
export const endSessions = (context: PeopleContext, personId: string, by: Initiator): Promise<Changed> =>
  change(context, personId, async (tx, person) => {
    const sessionsEnded = await deleteSessions(tx, personId);
    if (sessionsEnded > 0) await recordAudit(tx, context, by, personFact(person, { sessionsEnded }));
    return person;
  });

/** Changes name and mail address. Links to an earlier address end. */
export const renamePerson = (
  context: PeopleContext,
  personId: string,
  fields: { readonly name?: string | undefined; readonly email?: string | undefined },
  by: Initiator,
): Promise<Changed> =>
  change(context, personId, async (tx, person) => {
    const name = fields.name ?? person.name;
    const email = fields.email === undefined ? person.email : normalEmail(fields.email);
    if (name === person.name && email === person.email) return person;
    if (!(await setNameAndEmail(tx, { personId, name, email, now: context.clock.now() })))
      return personExists;
    if (email !== person.email) await deleteLinks(tx, personId, ["invitation", "reset"]);
    const changed = { ...person, name, email };
    await recordAudit(tx, context, by, personFact(changed));
    return changed;
  });

/** A link with which a person signs in once, within an hour: for one who can neither sign in nor receive mail. */
export const makeSignInLink = (
  context: PeopleContext,
  personId: string,
  by: Initiator,
): Promise<MadeLink | Problem | null> =>
  inTransaction(context, async (tx) => {
    const person = await readPerson(tx, personId);
    if (person === null) return null;
    if (person.disabledAt !== null) return disabled;
    const link = await makeLink(tx, context, personId, "sign-in");
    await recordAudit(tx, context, by, personFact(person, { expiresAt: link.expiresAt }));
    return link;
  });

const lastOperator: Problem = {
  code: "person-state",
  detail: "This is the last operator who can sign in. Give the role to another person first.",
  members: { state: "last-operator" },
};

const disabled: Problem = {
  code: "person-state",
  detail: "The person is disabled. Enable it first.",
  members: { state: "disabled" },
};
