import type { Queryable } from "../../platform/database/database.ts";

/** Uses up the codes of a person up to a time step. Returns false if the code of this step, or of a later one, was used before. */
export async function takeCodeStep(db: Queryable, personId: string, step: number): Promise<boolean> {
  const rows = await db.query({
    name: "take-person-code-step",
    text: `
      update person_two_factors
      set last_code_step = $2
      where person_id = $1 and (last_code_step is null or last_code_step < $2)
      returning id`,
    values: [personId, step],
  });
  return rows.length > 0;
}
