import type { Queryable } from "../../platform/database/database.ts";

/**
 * Counts a code before it is compared, so that many at once do not exceed the limit. The last one that is permitted locks
 * the second factor until `lockedUntil`, as better-auth does with wrong codes of a sign-in. Returns false if it is locked, or
 * if the person has none.
 */
export async function countCode(
  db: Queryable,
  { personId, max, now, lockedUntil }: { personId: string; max: number; now: Date; lockedUntil: Date },
): Promise<boolean> {
  const rows = await db.query({
    name: "count-person-code",
    text: `
      update person_two_factors
      set failed_verification_count = case when locked_until is null then failed_verification_count + 1 else 1 end,
          locked_until = case when locked_until is null and failed_verification_count + 1 >= $2 then $4::timestamptz end
      where person_id = $1 and (locked_until is null or locked_until <= $3)
      returning id`,
    values: [personId, max, now, lockedUntil],
  });
  return rows.length > 0;
}

/** After a right code: wrong ones count from the beginning. */
export async function forgetWrongCodes(db: Queryable, personId: string): Promise<void> {
  await db.query({
    name: "forget-wrong-person-codes",
    text: "update person_two_factors set failed_verification_count = 0, locked_until = null where person_id = $1",
    values: [personId],
  });
}
