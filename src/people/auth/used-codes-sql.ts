import type { Queryable } from "../../platform/database/database.ts";

/**
 * Uses up the codes of a person up to a time step. Returns false if the code of this step, or of a later one, was used before.
 *
 * When codes are set up, better-auth first requires them of the person, and marks them as verified in a later statement. If the process
 * ends in between, it rejects each code at the sign-in. A code that is required was right before, so a right one marks them.
 */
export async function takeCodeStep(db: Queryable, personId: string, step: number): Promise<boolean> {
  const rows = await db.query({
    name: "take-person-code-step",
    text: `
      update person_two_factors f
      set last_code_step = $2, verified = f.verified or p.two_factor_enabled
      from people p
      where f.person_id = $1 and (f.last_code_step is null or f.last_code_step < $2) and p.id = f.person_id
      returning f.id`,
    values: [personId, step],
  });
  return rows.length > 0;
}
