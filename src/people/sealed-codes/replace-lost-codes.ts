import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { beginningOf } from "../auth/auth-secrets.ts";
import type { PeopleContext } from "../context.ts";
import { lockPerson, readPerson } from "../people-sql.ts";
import { personFact } from "../person-fact.ts";
import { deleteCodesOfKey, listPeopleOfKey } from "./sealed-codes-sql.ts";

/** People that are read at a time. Each is changed in a transaction of its own. */
const BATCH_SIZE = 200;

/**
 * Deletes the one-time codes that were encrypted with a lost key. They stay required (decision 0225): a password alone does not
 * suffice. Returns of how many people. A repetition continues where the first one ended, and changes nothing else.
 */
export async function replaceLostCodes(
  context: PeopleContext,
  lostKeyId: string,
  by: Initiator,
): Promise<number> {
  const beginning = beginningOf(lostKeyId);
  let count = 0;
  for (;;) {
    const people = await listPeopleOfKey(context.db, beginning, BATCH_SIZE);
    if (people.length === 0) return count;
    for (const personId of people) {
      const isDeleted = await inTransaction(context, async (tx) => {
        await lockPerson(tx, personId);
        const person = await readPerson(tx, personId);
        if (!(await deleteCodesOfKey(tx, personId, beginning)) || person === null) return false;
        await recordAudit(tx, context, by, personFact(person, { lostKeyId }));
        return true;
      });
      if (isDeleted) count += 1;
    }
  }
}
