import { type BackOfficeCaller, type Grant, grantsWith, isWithin, merchantScope } from "../audit/grant.ts";
import { byService, type Initiator, recordAudit } from "../audit/record-audit.ts";
import { lackedScope, scopeRequired, scopesOfRole } from "../audit/scope.ts";
import { isValid } from "../merchants/api-key.ts";
import { limitReached } from "../merchants/limits.ts";
import { readMerchantMaximum } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { versionChanged } from "../platform/wire/content-version.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { givenBy } from "./given-grants.ts";
import { countInvitation, inviters, reachedInvitations, takeResend } from "./invitation-limits.ts";
import { deleteLinks, type MadeLink, makeLink, PERSONAL_LINKS } from "./links.ts";
import { invitationMail, queuePersonMail } from "./mails.ts";
import { deleteCodes } from "./one-time-codes.ts";
import { deletePasskeys } from "./passkeys.ts";
import { readPasswordHash, storePassword } from "./passwords.ts";
import {
  countOtherOperators,
  countOtherPeople,
  countPeopleOfMerchants,
  findEndedGivers,
  findPeopleOfTokens,
  insertPerson,
  lockPeople,
  lockPerson,
  readGivenGrants,
  readPerson,
  removeGrantsOfTokens,
  replaceGrants,
  setDisabled,
  setNameAndEmail,
} from "./people-sql.ts";
import {
  grantsVersion,
  merchantsOfPerson,
  newPerson,
  normalEmail,
  PEOPLE_MAX,
  type PeopleContext,
  type Person,
  personFact,
  sortedByRole,
} from "./person.ts";
import { unlinkAccount } from "./provider.ts";
import { endSessions } from "./sessions.ts";
import type { Token } from "./token.ts";
import { lockTokens, readToken } from "./tokens-sql.ts";

const isOperator = ({ grants }: Pick<Person, "grants">): boolean =>
  grants.some(({ role }) => role === "operator");

/** Whether the person is the only operator who can sign in. */
const isLastOperator = async (tx: Queryable, person: Person): Promise<boolean> =>
  isOperator(person) && person.disabledAt === null && (await countOtherOperators(tx, person.id)) === 0;

/**
 * Replaces what a person may do. It counts from its next request on. A caller without a token takes over what tokens have given.
 * @param expectedVersion of the grants that are to be replaced; undefined if it does not matter
 */
export const changeGrants = (
  context: PeopleContext,
  request: Change,
  grants: readonly Grant[],
  expectedVersion: string | undefined,
): Promise<Changed> =>
  change(context, request, async (tx, person, own) => {
    if (!grants.every((grant) => isWithin(grant, own))) return rightsLost;
    const lacking = lacksScopes(request.giver, grants) ?? (await isPassing(tx, request.giver));
    if (lacking !== null) return lacking;
    const changed = { ...person, grants: sortedByRole(grants) };
    const version = grantsVersion(person.grants);
    const tokenId = giverToken(request.giver);
    const earlierGiven = await readGivenGrants(tx, person.id);
    const isTakenOver = tokenId === null && earlierGiven.some((given) => given.tokenId !== null);
    if (version === grantsVersion(grants) && !isTakenOver) return person;
    if (expectedVersion !== undefined && expectedVersion !== version)
      return versionChanged("The grants", version);
    if (!isOperator(changed) && (await isLastOperator(tx, person))) return lastOperator;
    const earlier = merchantsOfPerson(person);
    const added = merchantsOfPerson(changed).filter((id) => !earlier.includes(id));
    const reached = added.length === 0 ? null : await reachedLimit(tx, added, own);
    if (reached !== null) return reached;
    await replaceGrants(tx, person.id, givenBy(tokenId, grants, earlierGiven));
    await recordAudit(tx, context, request.by, personFact(changed));
    return changed;
  });

/** The person cannot sign in any more. Its sessions and its links end. */
export const disablePerson = (context: PeopleContext, request: Change): Promise<Changed> =>
  reduce(context, request, async (tx, person) => {
    if (person.disabledAt !== null) return person;
    if (await isLastOperator(tx, person)) return lastOperator;
    return disable(tx, context, person, request.by);
  });

async function disable(tx: Queryable, context: Context, person: Person, by: Initiator): Promise<Person> {
  const disabledAt = context.clock.now();
  await setDisabled(tx, person.id, disabledAt);
  const sessionsEnded = await endSessions(tx, person.id, null);
  await deleteLinks(tx, person.id, [...PERSONAL_LINKS, "demo"], disabledAt);
  await recordAudit(tx, context, by, personFact(person, { sessionsEnded }));
  return { ...person, disabledAt };
}

/**
 * Takes away what tokens have given to people. A person who has nothing else is disabled, and its roles are then those of the caller who
 * enables it again: a person without roles would be seen by every merchant. The last operator stays. The caller has locked the people.
 */
export async function endGrantsOfTokens(
  tx: Queryable,
  context: Context,
  tokenIds: readonly string[],
  by: Initiator,
): Promise<void> {
  for (const personId of await findPeopleOfTokens(tx, tokenIds)) {
    const person = await lockPerson(tx, personId);
    if (person === null || (await isLastOperator(tx, person))) continue;
    if (await removeGrantsOfTokens(tx, personId, tokenIds)) {
      const left = await readPerson(tx, personId);
      if (left !== null) await recordAudit(tx, context, by, personFact(left));
      continue;
    }
    await replaceGrants(tx, personId, givenBy(null, person.grants, []));
    if (person.disabledAt === null) await disable(tx, context, person, by);
  }
}

/** Takes away what tokens that have ended have given to people: one that has expired, whose end no request has brought. Returns of how many. */
export async function endGrantsOfEndedTokens(context: Context): Promise<number> {
  const now = context.clock.now();
  if ((await findEndedGivers(context.db, now)).length === 0) return 0;
  return inTransaction(context, async (tx) => {
    await lockPeople(tx);
    const tokenIds = await findEndedGivers(tx, now);
    await endGrantsOfTokens(tx, context, tokenIds, byService("endGrantsOfTokens"));
    return tokenIds.length;
  });
}

export const enablePerson = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    if (person.disabledAt === null) return person;
    const rejected = await outlasting(tx, request);
    if (rejected !== null) return rejected;
    await setDisabled(tx, person.id, null);
    await recordAudit(tx, context, request.by, personFact(person));
    return { ...person, disabledAt: null };
  });

/** Signs a person out everywhere. Links by which it, or who has its mails, could sign in again end too. */
export const endSessionsOf = (context: PeopleContext, request: Change): Promise<Changed> =>
  reduce(context, request, async (tx, person) => {
    const sessionsEnded = await endSessions(tx, person.id, null);
    const linksEnded = await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    if (sessionsEnded + linksEnded > 0)
      await recordAudit(tx, context, request.by, personFact(person, { sessionsEnded, linksEnded }));
    return person;
  });

/**
 * Removes the account of the identity provider from a person. What it has opened ends. The next account that signs in with the mail
 * address of the person is linked (docs/design/people.md, "Identity provider").
 */
export const unlinkSingleSignOn = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    if (!(await unlinkAccount(tx, person.id))) return person;
    const sessionsEnded = await endSessions(tx, person.id, null);
    await recordAudit(tx, context, request.by, personFact(person, { sessionsEnded }));
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
    const name = fields.name ?? person.name;
    const email = fields.email === undefined ? person.email : normalEmail(fields.email);
    if (name === person.name && email === person.email) return person;
    const rejected = email === person.email ? null : await outlasting(tx, request);
    if (rejected !== null) return rejected;
    if (!(await setNameAndEmail(tx, { personId: person.id, name, email }))) return personExists;
    if (email !== person.email) {
      await endSessions(tx, person.id, request.giver.session?.id ?? null);
      await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    }
    const changed = { ...person, name, email };
    await recordAudit(tx, context, request.by, personFact(changed));
    return changed;
  });

/** A link with which a person signs in once, within an hour: for one who can neither sign in nor receive mail. */
export const makeSignInLink = (context: PeopleContext, request: Change): Promise<MadeLink | Problem | null> =>
  change(context, request, async (tx, person) => {
    if (person.disabledAt !== null) return disabled;
    const rejected = await outlasting(tx, request);
    if (rejected !== null) return rejected;
    const link = await makeLink(tx, context, person.id, "sign-in");
    await recordAudit(tx, context, request.by, personFact(person, { expiresAt: link.expiresAt }));
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

/** Who changes whom. */
export type Change = {
  readonly personId: string;
  readonly giver: Giver;
  readonly by: Initiator;
};

/**
 * Changes of people wait for each other, and for a sign-in that is being finished and what a person does with its own account: an
 * invitation that is sent again must not outlive the sign-in that accepts the earlier one. Null if there is no such person, or if it
 * may do more than the giver.
 * @param work receives the rights that the giver has now
 */
const change = <Result>(
  context: PeopleContext,
  request: Change,
  work: (tx: Queryable, person: Person, own: readonly Grant[]) => Promise<Result>,
): Promise<Result | Problem | null> =>
  reduce(context, request, async (tx, person, own) => {
    const lacking = lacksScopes(request.giver, person.grants);
    return lacking === null ? work(tx, person, own) : lacking;
  });

/** A change that only takes rights away: a token needs no scopes of the person's roles for it. */
const reduce = <Result>(
  context: PeopleContext,
  { personId, giver }: Change,
  work: (tx: Queryable, person: Person, own: readonly Grant[]) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(context, async (tx) => {
    const own = await presentGrants(tx, context, giver);
    const person = await lockPerson(tx, personId);
    return person?.grants.every((grant) => isWithin(grant, own)) ? work(tx, person, own) : null;
  });

export type Changed = Person | Problem | null;

/** Who gives access to others: a person, or a program with a token. Its grants are those that the route admits. */
type Giver = Pick<BackOfficeCaller, "type" | "id" | "grants" | "scopes" | "session">;

/** 403: a person has all scopes of its roles, so a token with fewer gives none of them (docs/design/people.md, "Scopes of tokens"). */
function lacksScopes({ scopes }: Giver, grants: readonly Grant[]): Problem | null {
  const lacked = lackedScope(
    scopes,
    grants.flatMap(({ role }) => scopesOfRole(role)),
  );
  return lacked === null
    ? null
    : scopeRequired(lacked, `A person has all scopes of its roles, and your token lacks ${lacked}.`);
}

/**
 * The rights that a giver has now, of those with which its request was admitted. People are locked until the transaction
 * ends, and for a program tokens too: what takes rights away from the giver at the same time comes before, and counts here,
 * or waits. So a right that was taken away never lives on in what its holder gave (docs/design/people.md, "Giving access").
 */
async function presentGrants(
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

/** The id of the token that gives. Null: a person does, `OPERATOR_TOKEN` or the command line. */
const giverToken = ({ type, id }: Giver): string | null =>
  type === "token" && id !== null ? fromTypeId("tok", id) : null;

/**
 * 403: access that would outlast the token. With another mail address, with a link, or enabled again, a human signs in as a person to
 * whom others have given roles, which do not end with the token.
 */
async function outlasting(tx: Queryable, { personId, giver }: Change): Promise<Problem | null> {
  const tokenId = giverToken(giver);
  if (tokenId === null) return null;
  const given = await readGivenGrants(tx, personId);
  return given.every((each) => each.tokenId === tokenId) ? null : rolesOfOthers;
}

const rolesOfOthers: Problem = {
  code: "forbidden",
  detail:
    "Others have given this person roles, which do not end with your token. So a token changes neither its mail address nor whether it can sign in: let a person do it.",
};

/** 403: what people are given does not expire, so a token that does gives them nothing. Its row is locked already. */
async function isPassing(tx: Queryable, giver: Giver): Promise<Problem | null> {
  const tokenId = giverToken(giver);
  const token = tokenId === null ? null : await readToken(tx, tokenId);
  return token === null || token.expiresAt === null ? null : tokenExpires(token);
}

const tokenExpires = ({ replacedById }: Token): Problem => ({
  code: "token-expires",
  detail:
    replacedById === null
      ? "Your token expires, and the roles of people do not. Create a token without an expiry, or let a person give the roles."
      : "Your token was rotated, so it expires, and the roles of people do not. Use the token that replaced it.",
  members: { replacedBy: replacedById === null ? null : toTypeId("tok", replacedById) },
});

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

/**
 * Creates a person and sends the invitation. Changes of people wait for each other, so that concurrent requests cannot exceed
 * a limit.
 */
export const invitePerson = (
  context: PeopleContext,
  fields: Pick<Person, "name" | "email" | "grants">,
  giver: Giver,
  by: Initiator,
): Promise<Person | Problem> =>
  inTransaction(context, async (tx) => {
    const own = await presentGrants(tx, context, giver);
    if (!fields.grants.every((grant) => isWithin(grant, own))) return rightsLost;
    const lacking = lacksScopes(giver, fields.grants) ?? (await isPassing(tx, giver));
    if (lacking !== null) return lacking;
    const from = inviters(own, fields);
    const reached =
      (await reachedLimit(tx, merchantsOfPerson(fields), own)) ??
      (await reachedInvitations(tx, context, from));
    if (reached !== null) return reached;
    const person = newPerson(context, { ...fields, email: normalEmail(fields.email) }, by.actor);
    if (!(await insertPerson(tx, person, giverToken(giver)))) return personExists;
    await sendInvitation(tx, context, person, from);
    await recordAudit(tx, context, by, personFact(person));
    return person;
  });

/**
 * Whether a person more may have access to these merchants, or to none. The operator is never stopped by the people of a merchant
 * (docs/design/isolation-and-limits.md, "Stored things"). The caller has locked the people.
 */
async function reachedLimit(
  tx: Queryable,
  merchantIds: readonly string[],
  giver: readonly Grant[],
): Promise<Problem | null> {
  if (merchantIds.length === 0)
    return (await countOtherPeople(tx, PEOPLE_MAX)) >= PEOPLE_MAX ? peopleLimitReached : null;
  if (merchantScope(giver) === null) return null;
  const maximumFor = await readMerchantMaximum(tx, merchantIds, "merchantPeople");
  const countOf = await countPeopleOfMerchants(tx, merchantIds, Math.max(...merchantIds.map(maximumFor)));
  const full = merchantIds.find((id) => countOf(id) >= maximumFor(id));
  return full === undefined ? null : limitReached("merchantPeople", maximumFor(full));
}

/** Sends a new invitation. The link of an earlier one ends. Null if there is no such person. */
export const resendInvitation = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person, own) => {
    if (person.acceptedAt !== null || person.disabledAt !== null) return notInvitable(person);
    const from = inviters(own, person);
    const reached = (await reachedInvitations(tx, context, from)) ?? (await takeResend(tx, person.id));
    if (reached !== null) return reached;
    await sendInvitation(tx, context, person, from);
    await recordAudit(tx, context, request.by, personFact(person));
    return person;
  });

async function sendInvitation(
  tx: Queryable,
  context: PeopleContext,
  person: Person,
  from: readonly string[],
): Promise<void> {
  const link = await makeLink(tx, context, person.id, "invitation");
  await queuePersonMail(tx, context, person.email, invitationMail(person.email, link));
  await countInvitation(tx, context, from);
}

const peopleLimitReached: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${PEOPLE_MAX} people without access to a merchant is reached.`,
  members: { limit: "people", maximum: PEOPLE_MAX },
};

const personExists: Problem = {
  code: "person-exists",
  detail: "A person with this mail address exists already. Change its grants, or ask the operator to do it.",
};

const notInvitable = ({ disabledAt }: Person): Problem => ({
  code: "person-state",
  detail:
    disabledAt === null
      ? "The person has accepted the invitation. It can reset its password by mail."
      : "The person is disabled. Enable it first.",
  members: { state: disabledAt === null ? "active" : "disabled" },
});

/**
 * Removes all that a person signs in with, and ends its sessions and its links: another human has signed in as the person, and can have
 * added ways of its own (docs/design/people.md, "Ending sign-ins"). The person begins again with a link, or with the identity provider.
 */
export const removeSignInMethods = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const removed = {
      password: (await readPasswordHash(tx, person.id)) !== null,
      singleSignOn: await unlinkAccount(tx, person.id),
      secondFactor: person.hasTwoFactor,
      passkeys: await deletePasskeys(tx, person.id),
    };
    await storePassword(tx, person.id, null);
    await deleteCodes(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, null);
    const linksEnded = await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    const changes = { ...removed, sessionsEnded, linksEnded };
    if (Object.values(changes).some(Boolean))
      await recordAudit(tx, context, request.by, personFact(person, changes));
    return { ...person, hasSingleSignOn: false, hasTwoFactor: false };
  });
