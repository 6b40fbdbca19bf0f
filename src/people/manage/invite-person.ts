import { isWithin } from "../../access/grant.ts";
import { merchantScope } from "../../access/scope.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { before } from "../../platform/time.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { countAttempts } from "../attempts/attempts-sql.ts";
import { WINDOW_MS } from "../attempts/limit-sign-ins.ts";
import type { PeopleContext } from "../context.ts";
import { newPerson } from "../first-operator.ts";
import { makeLink } from "../links/make-link.ts";
import { invitationMail } from "../mails/person-mails.ts";
import { queuePersonMail } from "../mails/queue-person-mail.ts";
import { countPeople, insertPerson } from "../people-sql.ts";
import { MERCHANT_PEOPLE_MAX, normalEmail, PEOPLE_MAX, type Person } from "../person.ts";
import { personFact } from "../person-fact.ts";
import { type Change, type Changed, change } from "./change.ts";
import { type Giver, presentGrants, rightsLost } from "./giver.ts";
import { countPeopleOfMerchants } from "./manage-sql.ts";

/** Mails to one person that others cause, within WINDOW_MS. */
const MAILS_MAX = 5;

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
    const merchantIds = merchantScope(own);
    if ((await countPeople(tx)) >= PEOPLE_MAX) return limitReached("people", PEOPLE_MAX);
    if (merchantIds !== null && (await countPeopleOfMerchants(tx, merchantIds)) >= MERCHANT_PEOPLE_MAX)
      return limitReached("merchantPeople", MERCHANT_PEOPLE_MAX);
    const person = newPerson(context, { ...fields, email: normalEmail(fields.email) }, by.actor);
    if (!(await insertPerson(tx, person))) return personExists;
    await sendInvitation(tx, context, person, by);
    await recordAudit(tx, context, by, personFact(person));
    return person;
  });

/** Sends a new invitation. The link of an earlier one ends. Null if there is no such person. */
export const resendInvitation = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { by } = request;
    if (person.acceptedAt !== null || person.disabledAt !== null) return notInvitable(person);
    const now = context.clock.now();
    const bucket = `invitation ${person.id}`;
    const [counted] = await countAttempts(tx, [bucket], now, before(now, WINDOW_MS));
    if (counted !== undefined && counted.count >= MAILS_MAX) return tooManyMails;
    await sendInvitation(tx, context, person, by);
    await recordAudit(tx, context, by, personFact(person));
    return person;
  });

async function sendInvitation(
  tx: Queryable,
  context: PeopleContext,
  person: Person,
  by: Initiator,
): Promise<void> {
  const link = await makeLink(tx, context, person.id, "invitation");
  await queuePersonMail(tx, context, person.email, invitationMail(person, by.actor.name, link));
}

const limitReached = (limit: "people" | "merchantPeople", maximum: number): Problem => ({
  code: "limit-reached",
  detail:
    limit === "people"
      ? `The maximum of ${maximum} people is reached.`
      : `The maximum of ${maximum} people of a merchant is reached. Ask the operator.`,
  members: { limit, maximum },
});

export const personExists: Problem = {
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

const tooManyMails: Problem = {
  code: "rate-limited",
  detail: `At most ${MAILS_MAX} invitations are sent to a person within 15 minutes.`,
  headers: { "retry-after": String(WINDOW_MS / 1_000) },
};
