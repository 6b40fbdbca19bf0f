import type { Queryable } from "../platform/database/database.ts";

/** A passkey as its person sees it. */
export type Passkey = { readonly id: string; readonly name: string; readonly createdAt: Date };

/** Oldest first. There are at most PASSKEYS_MAX. */
export async function listPasskeys(db: Queryable, personId: string): Promise<Passkey[]> {
  return db.query<Passkey>({
    name: "list-person-passkeys",
    text: `
      select k.id, k.name, k.created_at as "createdAt"
      from person_passkeys k
      where k.person_id = $1
      order by k.id
      limit 100`,
    values: [personId],
  });
}

/** What a device has made for a person. `id` and the public key are as WebAuthn has them. */
type Credential = {
  readonly id: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: string[];
};

/** The credentials of a person, which its devices make no second time. */
export async function listCredentials(
  db: Queryable,
  personId: string,
): Promise<Pick<Credential, "id" | "transports">[]> {
  return db.query<Pick<Credential, "id" | "transports">>({
    name: "list-person-credentials",
    text: "select credential_id as id, transports from person_passkeys where person_id = $1 order by id limit 100",
    values: [personId],
  });
}

export type StoredCredential = Omit<Credential, "transports"> & { readonly personId: string };

/** The credential with an id, and its person. Null: it is not known. */
export async function readCredential(db: Queryable, credentialId: string): Promise<StoredCredential | null> {
  const [row] = await db.query<StoredCredential>({
    name: "read-credential",
    text: `
      select credential_id as id, person_id as "personId", public_key as "publicKey", counter::double precision as counter
      from person_passkeys
      where credential_id = $1`,
    values: [credentialId],
  });
  return row ?? null;
}

/** Records a use of a credential. Returns false if it was removed, or used at the same time by a device that counts. */
export async function recordUse(tx: Queryable, credentialId: string, counter: number): Promise<boolean> {
  const rows = await tx.query({
    name: "record-credential-use",
    text: `
      update person_passkeys set counter = $2
      where credential_id = $1 and (counter < $2 or counter = 0 and $2 = 0)
      returning id`,
    values: [credentialId, counter],
  });
  return rows.length > 0;
}

export async function countPasskeys(db: Queryable, personId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-person-passkeys",
    text: "select count(*)::integer as count from person_passkeys where person_id = $1",
    values: [personId],
  });
  return row?.count ?? 0;
}

/** Stores a passkey. Returns false if a person has this credential already. */
export async function insertPasskey(
  tx: Queryable,
  passkey: { id: string; personId: string; name: string; credential: Credential; now: Date },
): Promise<boolean> {
  const { id, publicKey, counter, transports } = passkey.credential;
  const rows = await tx.query({
    name: "insert-person-passkey",
    text: `
      insert into person_passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict do nothing
      returning id`,
    values: [passkey.id, passkey.personId, passkey.name, id, publicKey, counter, transports, passkey.now],
  });
  return rows.length > 0;
}

/** The name of the passkey that was deleted. Null if there is none. */
export async function deletePasskey(
  tx: Queryable,
  personId: string,
  passkeyId: string,
): Promise<string | null> {
  const [row] = await tx.query<{ name: string }>({
    name: "delete-person-passkey",
    text: "delete from person_passkeys where person_id = $1 and id = $2 returning name",
    values: [personId, passkeyId],
  });
  return row?.name ?? null;
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
