import type { Role } from "../audit/grant.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, type SearchPatterns } from "../platform/fold-text.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import { type GivenGrant, type GrantRow, toGrant, toGrantRow, unitedGrants } from "./given-grants.ts";
import type { Person, PersonState } from "./person.ts";

export type PersonRow = {
  id: string;
  name: string;
  email: string;
  has_two_factor: boolean;
  has_single_sign_on: boolean;
  created_at: Date;
  created_by_kind: Actor["kind"];
  created_by_name: string | null;
  created_by_id: string | null;
  accepted_at: Date | null;
  last_signed_in_at: Date | null;
  disabled_at: Date | null;
  grants: GrantRow[];
};

/** A person by its id. Null if there is none. */
export async function readPerson(db: Queryable, personId: string): Promise<Person | null> {
  const [row] = await db.query<PersonRow>({
    name: "read-person",
    text: `
      select p.id, p.name, p.email, p.created_at, p.created_by_kind, p.created_by_name, p.created_by_id,
             p.accepted_at, p.last_signed_in_at, p.disabled_at,
             exists (
               select from person_one_time_codes c
               where c.person_id = p.id and c.confirmed_at is not null) as has_two_factor,
             exists (select from person_provider_accounts a where a.person_id = p.id) as has_single_sign_on,
             (select coalesce(json_agg(g order by g.role, g.token_id nulls first), '[]') from person_grants g where g.person_id = p.id) as grants
      from people p
      where p.id = $1`,
    values: [personId],
  });
  return row === undefined ? null : toPerson(row);
}

/** A person by its mail address in lower case. Null if there is none. */
export async function readPersonByEmail(db: Queryable, email: string): Promise<Person | null> {
  const [row] = await db.query<PersonRow>({
    name: "read-person-by-email",
    text: `
      select p.id, p.name, p.email, p.created_at, p.created_by_kind, p.created_by_name, p.created_by_id,
             p.accepted_at, p.last_signed_in_at, p.disabled_at,
             exists (
               select from person_one_time_codes c
               where c.person_id = p.id and c.confirmed_at is not null) as has_two_factor,
             exists (select from person_provider_accounts a where a.person_id = p.id) as has_single_sign_on,
             (select coalesce(json_agg(g order by g.role, g.token_id nulls first), '[]') from person_grants g where g.person_id = p.id) as grants
      from people p
      where p.email = $1`,
    values: [email],
  });
  return row === undefined ? null : toPerson(row);
}

/** Which people are listed. A null restricts nothing. */
export type PeopleFilter = {
  /** Of a part of the name or of the mail address. */
  readonly text: SearchPatterns | null;
  readonly role: Role | null;
  readonly state: PersonState | null;
  /** Only people all of whose grants are for these merchants. */
  readonly withinMerchantIds: readonly string[] | null;
};

/** Oldest first. Returns one row more than the page if there is one. */
export async function listPeople(
  db: Queryable,
  { text, role, state, withinMerchantIds }: PeopleFilter,
  { afterId, limit }: PagePosition,
): Promise<Person[]> {
  const rows = await db.query<PersonRow>({
    name: "list-people",
    text: `
      select p.id, p.name, p.email, p.created_at, p.created_by_kind, p.created_by_name, p.created_by_id,
             p.accepted_at, p.last_signed_in_at, p.disabled_at,
             exists (
               select from person_one_time_codes c
               where c.person_id = p.id and c.confirmed_at is not null) as has_two_factor,
             exists (select from person_provider_accounts a where a.person_id = p.id) as has_single_sign_on,
             (select coalesce(json_agg(g order by g.role, g.token_id nulls first), '[]') from person_grants g where g.person_id = p.id) as grants
      from people p
      where p.id > $1
        and ($3::uuid[] is null or not exists (
          select from person_grants g
          where g.person_id = p.id and (g.role not in ('merchant', 'partner') or not g.merchant_ids <@ $3)))
        and ($4::text[] is null or ${folded("p.name")} like any($4) or ${folded("p.email")} like any($4))
        and ($5::text is null or exists (select from person_grants g where g.person_id = p.id and g.role = $5))
        and ($6::text is null
          or $6 = case
            when p.disabled_at is not null then 'disabled'
            when p.accepted_at is null then 'invited'
            else 'active' end)
      order by p.id
      limit $2 + 1`,
    values: [afterId, limit, withinMerchantIds, text, role, state],
  });
  return rows.map(toPerson);
}

/**
 * Lets changes of people wait for each other until the transaction ends, so that concurrent requests cannot exceed a limit or
 * remove the last operator. Requests that only read people do not wait.
 */
export async function lockPeople(tx: Queryable): Promise<void> {
  await tx.query({
    name: "lock-people",
    text: "lock table person_grants in share row exclusive mode",
    values: [],
  });
}

/**
 * A person as it is now, locked until the transaction ends. Its sign-ins, the changes of how it signs in, and the ends of its sessions
 * wait for each other here. Null if there is none.
 */
export async function lockPerson(tx: Queryable, personId: string): Promise<Person | null> {
  await tx.query({
    name: "lock-person",
    text: "select from people where id = $1 for no key update",
    values: [personId],
  });
  return readPerson(tx, personId); // By a statement of its own: what it joins can have changed while the lock was awaited.
}

/** A person who may sign in, locked until the transaction ends. Null: there is none, or it is disabled. */
export async function lockEnabled(tx: Queryable, personId: string): Promise<Person | null> {
  const person = await lockPerson(tx, personId);
  return person?.disabledAt === null ? person : null;
}

/** Whether an enabled person with the role operator has signed in before. */
export async function hasActiveOperator(db: Queryable): Promise<boolean> {
  const rows = await db.query({
    name: "has-active-operator",
    text: `
      select
      from people p
      join person_grants g on g.person_id = p.id
      where g.role = 'operator' and p.accepted_at is not null and p.disabled_at is null
      limit 1`,
    values: [],
  });
  return rows.length > 0;
}

/** Whether any person is stored. */
export async function hasPeople(db: Queryable): Promise<boolean> {
  const rows = await db.query({ name: "has-people", text: "select from people limit 1", values: [] });
  return rows.length > 0;
}

/** How many people have access to no merchant, at most `countMax`. */
export async function countOtherPeople(db: Queryable, countMax: number): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-other-people",
    text: `
      select count(*)::integer as count
      from (
        select
        from people p
        where not exists (select from person_grants g where g.person_id = p.id and g.merchant_ids <> '{}')
        limit $1) as counted`,
    values: [countMax],
  });
  return row?.count ?? 0;
}

/**
 * Inserts a person with its grants. Returns whether its mail address was free.
 * @param tokenId the token that gives them; null: none does
 */
export async function insertPerson(
  tx: Queryable,
  person: Person,
  tokenId: string | null = null,
): Promise<boolean> {
  const { createdBy } = person;
  const rows = await tx.query({
    name: "insert-person",
    text: `
      insert into people (id, name, email, created_at, created_by_kind, created_by_name, created_by_id)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (email) do nothing
      returning id`,
    values: [
      person.id,
      person.name,
      person.email,
      person.createdAt,
      createdBy.kind,
      createdBy.name,
      createdBy.id ?? null,
    ],
  });
  if (rows.length === 0) return false;
  await insertGrants(
    tx,
    person.id,
    person.grants.map((grant) => ({ grant, tokenId })),
  );
  return true;
}

/**
 * Records that a person has signed in, and so has accepted its invitation. Links to sign in for the first time are not needed any more:
 * they would be a way past the password and the code.
 */
export async function recordSignIn(tx: Queryable, personId: string, now: Date): Promise<void> {
  await tx.query({
    name: "record-sign-in",
    text: `
      with links as (
        delete from person_links l
        using people p
        where p.id = $1 and l.person_id = p.id
          and (l.kind = 'invitation' or l.kind = 'sign-in' and p.accepted_at is null)
      )
      update people
      set accepted_at = coalesce(accepted_at, $2), last_signed_in_at = $2
      where id = $1`,
    values: [personId, now],
  });
}

export const toPerson = (row: PersonRow): Person => ({
  id: row.id,
  name: row.name,
  email: row.email,
  grants: unitedGrants(row.grants),
  hasTwoFactor: row.has_two_factor,
  hasSingleSignOn: row.has_single_sign_on,
  createdBy: { kind: row.created_by_kind, name: row.created_by_name, id: row.created_by_id },
  createdAt: row.created_at,
  acceptedAt: row.accepted_at,
  lastSignedInAt: row.last_signed_in_at,
  disabledAt: row.disabled_at,
});

/** How many people have a grant for each merchant, or for a connection of it, at most `countMax`. */
export async function countPeopleOfMerchants(
  db: Queryable,
  merchantIds: readonly string[],
  countMax: number,
): Promise<(merchantId: string) => number> {
  const rows = await db.query<{ id: string; count: number }>({
    name: "count-people-of-merchants",
    text: `
      select requested.id,
             (select count(*)::integer
              from (
                select distinct g.person_id
                from person_grants g
                where g.merchant_ids @> array[requested.id]
                limit $2) as counted) as count
      from unnest($1::uuid[]) as requested (id)`,
    values: [merchantIds, countMax],
  });
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return (merchantId) => counts.get(merchantId) ?? 0;
}

/** Operators who can sign in, but for one person. The caller has locked the people. */
export async function countOtherOperators(tx: Queryable, personId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-other-operators",
    text: `
      select count(*)::integer as count
      from person_grants g
      join people p on p.id = g.person_id
      where g.role = 'operator' and p.id <> $1 and p.disabled_at is null`,
    values: [personId],
  });
  return row?.count ?? 0;
}

/** What each token has given to a person, and what others have. */
export async function readGivenGrants(db: Queryable, personId: string): Promise<GivenGrant[]> {
  const rows = await db.query<GrantRow & { token_id: string | null }>({
    name: "read-given-grants",
    text: `
      select role, merchant_ids, facility_ids, connection_ids, token_id
      from person_grants
      where person_id = $1
      order by role, token_id nulls first`,
    values: [personId],
  });
  return rows.map((row) => ({ grant: toGrant(row), tokenId: row.token_id }));
}

/** Replaces all grants of a person. */
export async function replaceGrants(
  tx: Queryable,
  personId: string,
  given: readonly GivenGrant[],
): Promise<void> {
  await tx.query({
    name: "delete-person-grants",
    text: "delete from person_grants where person_id = $1",
    values: [personId],
  });
  await insertGrants(tx, personId, given);
}

async function insertGrants(tx: Queryable, personId: string, given: readonly GivenGrant[]): Promise<void> {
  const rows = given.map(({ grant, tokenId }) => ({ ...toGrantRow(grant), token_id: tokenId }));
  await tx.query({
    name: "insert-person-grants",
    text: `
      insert into person_grants (person_id, role, merchant_ids, facility_ids, connection_ids, token_id)
      select $1, g.role, g.merchant_ids, g.facility_ids, g.connection_ids, g.token_id
      from json_to_recordset($2::json)
        as g (role text, merchant_ids uuid[], facility_ids uuid[], connection_ids uuid[], token_id uuid)`,
    values: [personId, JSON.stringify(rows)],
  });
}

/** Sets the time since when a person cannot sign in. Null: it can. */
export async function setDisabled(tx: Queryable, personId: string, disabledAt: Date | null): Promise<void> {
  await tx.query({
    name: "set-person-disabled",
    text: "update people set disabled_at = $2 where id = $1",
    values: [personId, disabledAt],
  });
}

/** Sets name and mail address. Returns false if another person has the address. */
export async function setNameAndEmail(
  tx: Queryable,
  { personId, name, email }: { personId: string; name: string; email: string },
): Promise<boolean> {
  const rows = await tx.query({
    name: "set-person-name-and-email",
    text: `
      update people p
      set name = $2, email = $3
      where p.id = $1 and not exists (select from people o where o.email = $3 and o.id <> $1)
      returning p.id`,
    values: [personId, name, email],
  });
  return rows.length > 0;
}

/** The people to whom one of these tokens has given a role. The caller has locked the people. */
export async function findPeopleOfTokens(tx: Queryable, tokenIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ person_id: string }>({
    name: "find-people-of-tokens",
    text: "select distinct person_id from person_grants where token_id = any($1::uuid[]) order by person_id",
    values: [tokenIds],
  });
  return rows.map(({ person_id }) => person_id);
}

/** Removes what tokens have given to a person, if it has other roles. Returns whether it has. */
export async function removeGrantsOfTokens(
  tx: Queryable,
  personId: string,
  tokenIds: readonly string[],
): Promise<boolean> {
  const rows = await tx.query({
    name: "remove-grants-of-tokens",
    text: `
      delete from person_grants g
      where g.person_id = $1 and g.token_id = any($2::uuid[])
        and exists (
          select from person_grants o
          where o.person_id = $1 and (o.token_id is null or o.token_id <> all($2::uuid[])))
      returning g.role`,
    values: [personId, tokenIds],
  });
  return rows.length > 0;
}

/** The tokens that have given people roles, and have ended. */
export async function findEndedGivers(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.query<{ token_id: string }>({
    name: "find-ended-givers",
    text: `
      select distinct g.token_id
      from person_grants g
      left join back_office_tokens t on t.id = g.token_id
      where g.token_id is not null and (t.id is null or t.revoked_at is not null or t.expires_at <= $1)`,
    values: [now],
  });
  return rows.map(({ token_id }) => token_id);
}

/** What a token has given to people belongs to the one that replaces it. */
export async function moveGrantsOfToken(tx: Queryable, fromId: string, toId: string): Promise<void> {
  await tx.query({
    name: "move-grants-of-token",
    text: "update person_grants set token_id = $2 where token_id = $1",
    values: [fromId, toId],
  });
}
