import type { Queryable } from "../platform/database/database.ts";

/** Sets the password of a person. better-auth finds it by this provider, and by the id of the person. */
export async function storePassword(
  tx: Queryable,
  { id, personId, passwordHash, now }: { id: string; personId: string; passwordHash: string; now: Date },
): Promise<void> {
  await tx.query({
    name: "store-person-password",
    text: `
      insert into person_accounts (id, person_id, provider_id, account_id, password, created_at, updated_at)
      values ($1, $2::uuid, 'credential', $2::uuid::text, $3, $4, $4)
      on conflict (provider_id, account_id) do update set password = excluded.password, updated_at = excluded.updated_at`,
    values: [id, personId, passwordHash, now],
  });
}

/** The hash of a person's password. Null: it has none. */
export async function readPasswordHash(db: Queryable, personId: string): Promise<string | null> {
  const [row] = await db.query<{ password: string | null }>({
    name: "read-person-password",
    text: `
      select a.password
      from person_accounts a
      where a.provider_id = 'credential' and a.account_id = $1::text and a.person_id = $1::text::uuid`,
    values: [personId],
  });
  return row?.password ?? null;
}

/** The person that an identity provider knows by a subject. Null: none, or it has not signed in there yet. */
export async function findPersonOfSubject(
  db: Queryable,
  providerId: string,
  subject: string,
): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-subject",
    text: "select person_id from person_accounts where provider_id = $1 and account_id = $2",
    values: [providerId, subject],
  });
  return row?.person_id ?? null;
}

/** Whether a person has an account of an identity provider. */
export async function hasAccount(db: Queryable, personId: string, providerId: string): Promise<boolean> {
  const rows = await db.query({
    name: "has-person-account",
    text: "select from person_accounts where person_id = $1 and provider_id = $2",
    values: [personId, providerId],
  });
  return rows.length > 0;
}

/** Removes the accounts of identity providers from a person. Returns whether there was one. */
export async function deleteProviderAccounts(tx: Queryable, personId: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-person-provider-accounts",
    text: "delete from person_accounts where person_id = $1 and provider_id <> 'credential' returning id",
    values: [personId],
  });
  return rows.length > 0;
}

/** Unlinks one account of an identity provider. */
export async function deleteAccount(db: Queryable, accountId: string): Promise<void> {
  await db.query({
    name: "delete-person-account",
    text: "delete from person_accounts where id = $1",
    values: [accountId],
  });
}

/** Removes the password and the account of the identity provider from a person. Returns the providers of what there was. */
export async function deleteAccounts(tx: Queryable, personId: string): Promise<string[]> {
  const rows = await tx.query<{ provider_id: string }>({
    name: "delete-person-accounts",
    text: "delete from person_accounts where person_id = $1 returning provider_id",
    values: [personId],
  });
  return rows.map(({ provider_id }) => provider_id);
}

/** The person of a sign-in in which the password was right and the code has not been entered. */
export async function readPersonOfStep(db: Queryable, step: string): Promise<string | null> {
  const [row] = await db.query<{ value: string }>({
    name: "read-person-of-code-step",
    text: "select value from person_verifications where identifier = $1",
    values: [step],
  });
  return row?.value ?? null;
}

/** Ends the sign-ins of a person in which the password was right and the code has not been entered. */
export async function deleteCodeSteps(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-person-code-steps",
    text: "delete from person_verifications where identifier like '2fa-%' and value = $1::text",
    values: [personId],
  });
}

/** Ends one of them. */
export async function deleteCodeStep(tx: Queryable, step: string): Promise<void> {
  await tx.query({
    name: "delete-person-code-step",
    text: "delete from person_verifications where identifier = $1",
    values: [step],
  });
}

/** From now on a password alone suffices. */
export async function deleteSecondFactor(tx: Queryable, personId: string, now: Date): Promise<void> {
  await tx.query({
    name: "delete-person-second-factor",
    text: `
      with removed as (
        delete from person_two_factors where person_id = $1
      )
      update people set two_factor_enabled = false, updated_at = $2 where id = $1`,
    values: [personId, now],
  });
}

/** How a person can sign in. */
export type SignInMethods = {
  readonly hasPassword: boolean;
  readonly hasSingleSignOn: boolean;
  readonly passkeys: number;
};

export async function readSignInMethods(db: Queryable, personId: string): Promise<SignInMethods> {
  const [row] = await db.query<{ has_password: boolean; has_single_sign_on: boolean; passkeys: number }>({
    name: "read-sign-in-methods",
    text: `
      select exists (
               select from person_accounts a where a.person_id = $1 and a.provider_id = 'credential' and a.password is not null
             ) as has_password,
             exists (
               select from person_accounts a where a.person_id = $1 and a.provider_id <> 'credential'
             ) as has_single_sign_on,
             (select count(*)::integer from person_passkeys k where k.person_id = $1) as passkeys`,
    values: [personId],
  });
  return {
    hasPassword: row?.has_password ?? false,
    hasSingleSignOn: row?.has_single_sign_on ?? false,
    passkeys: row?.passkeys ?? 0,
  };
}

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
