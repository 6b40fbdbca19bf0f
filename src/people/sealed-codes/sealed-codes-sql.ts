import type { Queryable } from "../../platform/database/database.ts";

/** What the codes of a person are compared with, encrypted. */
export type SealedCodes = { readonly secret: string; readonly backupCodes: string };

/** Null: the person has set up no codes, or those that it had are lost. */
export async function readSealedCodes(db: Queryable, personId: string): Promise<SealedCodes | null> {
  const [row] = await db.query<SealedCodes>({
    name: "read-sealed-person-codes",
    text: `
      select secret, backup_codes as "backupCodes"
      from person_two_factors
      where person_id = $1`,
    values: [personId],
  });
  return row ?? null;
}
