import { recordAudit } from "../../audit/record-audit.ts";
import { deleteAccounts, deleteSecondFactor } from "../auth/accounts-sql.ts";
import type { PeopleContext } from "../context.ts";
import { deleteUsableLinks } from "../links/links-sql.ts";
import { deletePasskeys } from "../own-account/passkeys-sql.ts";
import { personFact } from "../person-fact.ts";
import { endSignIns } from "../sessions/end-sign-ins.ts";
import { type Change, type Changed, change } from "./change.ts";

/**
 * Removes all that a person signs in with, and ends its sessions and its links: another human has signed in as the person, and can have
 * added ways of its own (decision 0231). The person begins again with a link, or with the identity provider.
 */
export const removeSignInMethods = (context: PeopleContext, request: Change): Promise<Changed> =>
  change(context, request, async (tx, person) => {
    const { personId, by } = request;
    const now = context.clock.now();
    const accounts = await deleteAccounts(tx, personId);
    const removed = {
      password: accounts.includes("credential"),
      singleSignOn: person.hasSingleSignOn,
      secondFactor: person.hasTwoFactor,
      passkeys: await deletePasskeys(tx, personId),
    };
    await deleteSecondFactor(tx, personId, now);
    const { sessionsEnded } = await endSignIns(tx, personId, null);
    const linksEnded = await deleteUsableLinks(tx, personId, now);
    const changes = { ...removed, sessionsEnded, linksEnded };
    if (Object.values(changes).some(Boolean)) await recordAudit(tx, context, by, personFact(person, changes));
    return { ...person, hasSingleSignOn: false, hasTwoFactor: false };
  });
