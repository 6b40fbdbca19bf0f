import type { Queryable } from "../platform/database/database.ts";

/** The hash of a password, and its person. */
export type StoredPassword = { readonly personId: string; readonly hash: string | null };

/** The password of the person with a mail address. The hash is null for a person without one. Null: no person has the address. */
export async function readPasswordOf(db: Queryable, email: string): Promise<StoredPassword | null> {
  const [row] = await db.query<StoredPassword>({
    name: "read-password-of-email",
    text: 'select id as "personId", password_hash as hash from people where email = $1',
    values: [email],
  });
  return row ?? null;
}

/** The hash of a person's password. Null: it has none. */
export async function readPasswordHash(db: Queryable, personId: string): Promise<string | null> {
  const [row] = await db.query<{ password_hash: string | null }>({
    name: "read-person-password",
    text: "select password_hash from people where id = $1",
    values: [personId],
  });
  return row?.password_hash ?? null;
}

/** Sets or removes (null) the password of a person. */
export async function storePassword(
  tx: Queryable,
  personId: string,
  passwordHash: string | null,
): Promise<void> {
  await tx.query({
    name: "store-person-password",
    text: "update people set password_hash = $2 where id = $1",
    values: [personId, passwordHash],
  });
}

/** An account at an identity provider. */
export type ProviderAccount = { readonly issuer: string; readonly subject: string };

/** The person that has linked an account of an identity provider. Null: none. */
export async function findPersonOfAccount(
  db: Queryable,
  { issuer, subject }: ProviderAccount,
): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-account",
    text: "select person_id from person_provider_accounts where issuer = $1 and subject = $2",
    values: [issuer, subject],
  });
  return row?.person_id ?? null;
}

/** Links an account with a person. Returns false if the person has one, or another person has this one. */
export async function linkAccount(
  tx: Queryable,
  personId: string,
  { issuer, subject }: ProviderAccount,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: "link-provider-account",
    text: `
      insert into person_provider_accounts (person_id, issuer, subject, linked_at)
      values ($1, $2, $3, $4)
      on conflict do nothing
      returning person_id`,
    values: [personId, issuer, subject, now],
  });
  return rows.length > 0;
}

/** Removes the account of the identity provider from a person. Returns whether there was one. */
export async function unlinkAccount(tx: Queryable, personId: string): Promise<boolean> {
  const rows = await tx.query({
    name: "unlink-provider-account",
    text: "delete from person_provider_accounts where person_id = $1 returning person_id",
    values: [personId],
  });
  return rows.length > 0;
}

/** Uses up a challenge, or a visit to the identity provider. Returns false if it was used before. */
export async function useChallenge(tx: Queryable, challengeHash: Buffer, endsAt: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "use-challenge",
    text: `
      insert into person_used_challenges (challenge_hash, expires_at)
      values ($1, $2)
      on conflict do nothing
      returning challenge_hash`,
    values: [challengeHash, endsAt],
  });
  return rows.length > 0;
}
