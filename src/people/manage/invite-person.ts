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
import { insertPerson, lockPeople, readPerson } from "../people-sql.ts";
import { MERCHANT_PEOPLE_MAX, normalEmail, PEOPLE_MAX, type Person } from "../person.ts";
import { personFact } from "../person-fact.ts";
import { countAllPeople, countPeopleOfMerchants } from "./manage-sql.ts";

/** Mails to one person that others cause, within WINDOW_MS. */
const MAILS_MAX = 5;

/**
 * Creates a person and sends the invitation. Changes of people wait for each other, so that concurrent requests cannot exceed
 * a limit.
 * @param ownMerchantIds the merchants of the caller; null: it is not restricted to merchants
 */
export const invitePerson = (
  context: PeopleContext,
  fields: Pick<Person, "name" | "email" | "grants">,
  ownMerchantIds: readonly string[] | null,
  by: Initiator,
): Promise<Person | Problem> =>
  inTransaction(context, async (tx) => {
    await lockPeople(tx);
    if ((await countAllPeople(tx)) >= PEOPLE_MAX) return limitReached("people", PEOPLE_MAX);
    if (ownMerchantIds !== null && (await countPeopleOfMerchants(tx, ownMerchantIds)) >= MERCHANT_PEOPLE_MAX)
      return limitReached("merchantPeople", MERCHANT_PEOPLE_MAX);
    const person = newPerson(context, { ...fields, email: normalEmail(fields.email) }, by.actor);
    if (!(await insertPerson(tx, person))) return personExists;
    await sendInvitation(tx, context, person, by);
    await recordAudit(tx, context, by, personFact(person));
    return person;
  });

/** Sends a new invitation. The link of an earlier one ends. Null if there is no such person. */
export const resendInvitation = (
  context: PeopleContext,
  personId: string,
  by: Initiator,
): Promise<Person | Problem | null> =>
  inTransaction(context, async (tx) => {
    await lockPeople(tx);
    const person = await readPerson(tx, personId);
    if (person === null) return null;
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
