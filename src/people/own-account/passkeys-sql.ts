import type { Queryable } from "../../platform/database/database.ts";

/** A passkey as its person sees it. */
export type Passkey = { readonly id: string; readonly name: string; readonly createdAt: Date | null };

type PasskeyRow = { id: string; name: string | null; created_at: Date | null };

/** Oldest first. There are at most PASSKEYS_MAX. */
export async function listPasskeys(db: Queryable, personId: string): Promise<Passkey[]> {
  const rows = await db.query<PasskeyRow>({
    name: "list-person-passkeys",
    text: `
      select k.id, k.name, k.created_at
      from person_passkeys k
      where k.person_id = $1
      order by k.id
      limit 100`,
    values: [personId],
  });
  return rows.map(({ id, name, created_at }) => ({ id, name: name ?? "", createdAt: created_at }));
}

/** The person who signs in with a passkey. Null: the passkey is not known. */
export async function findPersonOfPasskey(db: Queryable, credentialId: string): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-passkey",
    text: "select person_id from person_passkeys where credential_id = $1",
    values: [credentialId],
  });
  return row?.person_id ?? null;
}

export async function countPasskeys(db: Queryable, personId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-person-passkeys",
    text: "select count(*)::integer as count from person_passkeys where person_id = $1",
    values: [personId],
  });
  return row?.count ?? 0;
}

/** The name of the passkey that was deleted. Null if there is none. */
export async function deletePasskey(
  tx: Queryable,
  personId: string,
  passkeyId: string,
): Promise<string | null> {
  const [row] = await tx.query<{ name: string | null }>({
    name: "delete-person-passkey",
    text: "delete from person_passkeys where person_id = $1 and id = $2 returning name",
    values: [personId, passkeyId],
  });
  return row === undefined ? null : (row.name ?? "");
}

/** Deletes all passkeys of a person. Returns how many. */
export async function deletePasskeys(tx: Queryable, personId: string): Promise<number> {
  const rows = await tx.query({
    name: "delete-person-passkeys",
    text: "delete from person_passkeys where person_id = $1 returning id",
    values: [personId],
  });
  return rows.length;
}
