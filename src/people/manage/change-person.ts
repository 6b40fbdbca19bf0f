import { type Grant, isWithin } from "../../access/grant.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { versionChanged } from "../../platform/wire/content-version.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { deleteProviderAccounts } from "../auth/accounts-sql.ts";
import type { PeopleContext } from "../context.ts";
import { grantsVersion, sortedByRole } from "../grant-rows.ts";
import { PERSONAL_LINKS } from "../links/link.ts";
import { deleteLinks, deleteUsableLinks } from "../links/links-sql.ts";
import { type MadeLink, makeLink } from "../links/make-link.ts";
import { normalEmail, type Person } from "../person.ts";
import { personFact } from "../person-fact.ts";
import { endSignIns } from "../sessions/end-sign-ins.ts";
import { type Change, type Changed, change } from "./change.ts";
import { rightsLost } from "./giver.ts";
import { personExists } from "./invite-person.ts";
import { countOtherOperators, replaceGrants, setDisabled, setNameAndEmail } from "./manage-sql.ts";

const isOperator = ({ grants }: Pick<Person, "grants">): boolean =>
  grants.some(({ role }) => role === "operator");

/** Whether the person is the only operator who can sign in. */
const isLastOperator = async (tx: Queryable, person: Person): Promise<boolean> =>
  isOperator(person) && person.disabledAt === null && (await countOtherOperators(tx, person.id)) === 0;

/**
 * Replaces what a person may do. It counts from its next request on.
 * @param expectedVersion of the grants that are to be replaced; undefined if it does not matter
 */
export const changeGrants = (
  context: PeopleContext,
  request: Change,
  grants: readonly Grant[],
  expectedVersion: string | undefined,
): Promise<Changed> =>
  change(context, request, async (tx, person, own) => {
    const { personId, by } = request;
    if (!grants.every((grant) => isWithin(grant, own))) return rightsLost;
    const changed = { ...person, grants: sortedByRole(grants) };
    const version = grantsVersion(person.grants);
    if (version === grantsVersion(grants)) return person;
    if (expectedVersion !== undefined && expectedVersion !== version)
      return versionChanged("The grants", version);
    if (!isOperator(changed) && (await isLastOperator(tx, person))) return lastOperator;
    await replaceGrants(tx, personId, grants);
    await recordAudit(tx, context, by, personFact(changed));
    return changed;
  });

/** The person cannot sign in any more. Its sessions and its links end. */
export const disablePerson = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
    if (person.disabledAt !== null) return person;
    if (await isLastOperator(tx, person)) return lastOperator;
    const now = context.clock.now();
    await setDisabled(tx, personId, now, now);
    const { sessionsEnded } = await endSignIns(tx, personId, null);
    await deleteLinks(tx, personId, [...PERSONAL_LINKS, "demo"]);
    await recordAudit(tx, context, by, personFact(person, { sessionsEnded }));
    return { ...person, disabledAt: now };
  });

export const enablePerson = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
    if (person.disabledAt === null) return person;
    await setDisabled(tx, personId, null, context.clock.now());
    await recordAudit(tx, context, by, personFact(person));
    return { ...person, disabledAt: null };
  });

/** Signs a person out everywhere. Links by which it, or who has its mails, could sign in again end too. */
export const endSessions = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
    const { sessionsEnded } = await endSignIns(tx, personId, null);
    const linksEnded = await deleteUsableLinks(tx, personId, context.clock.now());
    if (sessionsEnded + linksEnded > 0)
      await recordAudit(tx, context, by, personFact(person, { sessionsEnded, linksEnded }));
    return person;
  });

/**
 * Removes the account of the identity provider from a person. What it has opened ends. The next account that signs in with the mail
 * address of the person is linked (decision 0219).
 */
export const unlinkSingleSignOn = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
    if (!(await deleteProviderAccounts(tx, personId))) return person;
    const { sessionsEnded } = await endSignIns(tx, personId, null);
    await recordAudit(tx, context, by, personFact(person, { sessionsEnded }));
    return { ...person, hasSingleSignOn: false };
  });

/**
 * Changes name and mail address. With the address, all links end: those to the earlier one, and one of the operator. So do the sign-ins,
 * but for the session of a person who changes its own.
 */
export const renamePerson = (
  context: PeopleContext,
  request: Change,
  fields: { readonly name?: string | undefined; readonly email?: string | undefined },
): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, giver, by } = request;
    const name = fields.name ?? person.name;
    const email = fields.email === undefined ? person.email : normalEmail(fields.email);
    if (name === person.name && email === person.email) return person;
    if (!(await setNameAndEmail(tx, { personId, name, email, now: context.clock.now() })))
      return personExists;
    if (email !== person.email) {
      await endSignIns(tx, personId, giver.session?.id ?? null);
      await deleteLinks(tx, personId, PERSONAL_LINKS);
    }
    const changed = { ...person, name, email };
    await recordAudit(tx, context, by, personFact(changed));
    return changed;
  });

/** A link with which a person signs in once, within an hour: for one who can neither sign in nor receive mail. */
export const makeSignInLink = (context: PeopleContext, request: Change): Promise<MadeLink | Problem | null> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
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
