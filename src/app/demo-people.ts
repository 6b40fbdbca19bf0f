import type { Grant } from "../access/grant.ts";
import { byService } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { FIRST_OPERATOR_EMAIL, newPerson } from "../people/first-operator.ts";
import { makeLink } from "../people/links/make-link.ts";
import { insertPerson, lockPeople, readPersonByEmail } from "../people/people-sql.ts";
import { personFact } from "../people/person-fact.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { inTransaction } from "../platform/context.ts";
import type { WebhookContext } from "../webhooks/context.ts";

/** A person of the demo, and a link with which one is signed in as this person, as often as one likes. */
export type DemoPerson = { readonly role: string; readonly url: string };

const people = ({
  merchantId,
  connectionId,
}: ConnectionKey): { name: string; email: string; grant: Grant }[] => [
  { name: "Operator", email: FIRST_OPERATOR_EMAIL, grant: { role: "operator" } },
  {
    name: "Mia Merchant",
    email: "merchant@demo.example",
    grant: { role: "merchant", merchantIds: [merchantId] },
  },
  { name: "Wes Warehouse", email: "warehouse@demo.example", grant: { role: "warehouse", facilityIds: null } },
  {
    name: "Pat Partner",
    email: "partner@demo.example",
    grant: { role: "partner", connections: [{ merchantId, connectionId }] },
  },
  { name: "Sam Support", email: "support@demo.example", grant: { role: "support" } },
];

/** One person for each role, with a new link each. Links of an earlier start end. */
export const ensureDemoPeople = (context: WebhookContext, connection: ConnectionKey): Promise<DemoPerson[]> =>
  inTransaction(context, async (tx) => {
    await lockPeople(tx);
    const made: DemoPerson[] = [];
    for (const { name, email, grant } of people(connection)) {
      let person = await readPersonByEmail(tx, email);
      if (person === null) {
        const by = byService("createDemo");
        person = newPerson(context, { name, email, grants: [grant] }, by.actor);
        await insertPerson(tx, person);
        await recordAudit(tx, context, by, personFact(person));
      }
      const { url } = await makeLink(tx, context, person.id, "demo");
      made.push({ role: grant.role, url });
    }
    return made;
  });
