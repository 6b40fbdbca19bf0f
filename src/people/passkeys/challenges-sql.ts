import type { Queryable } from "../../platform/database/database.ts";

/**
 * Uses up a challenge of a passkey, so that what a device has signed is good once. Returns false if it was used before. The caller
 * has locked the person.
 */
export async function takeChallenge(
  tx: Queryable,
  { id, identifier, expiresAt, now }: { id: string; identifier: string; expiresAt: Date; now: Date },
): Promise<boolean> {
  const rows = await tx.query({
    name: "take-passkey-challenge",
    text: `
      insert into person_verifications (id, identifier, value, expires_at, created_at, updated_at)
      select $1, $2, '', $3, $4, $4
      where not exists (select from person_verifications v where v.identifier = $2)
      returning id`,
    values: [id, `used-${identifier}`, expiresAt, now],
  });
  return rows.length > 0;
}
