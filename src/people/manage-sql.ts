import type { Grant } from "../audit/grant.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toGrantRow } from "./person.ts";

/** How many people have a grant for one of these merchants, or for a connection of them. */
export async function countPeopleOfMerchants(tx: Queryable, merchantIds: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-people-of-merchants",
    text: "select count(distinct g.person_id)::integer as count from person_grants g where g.merchant_ids && $1::uuid[]",
    values: [merchantIds],
  });
  return row?.count ?? 0;
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

/** Replaces all grants of a person. */
export async function replaceGrants(
  tx: Queryable,
  personId: string,
  grants: readonly Grant[],
): Promise<void> {
  await tx.query({
    name: "replace-person-grants",
    text: `
      with removed as (
        delete from person_grants
        where person_id = $1 and role not in (select g.role from json_to_recordset($2::json) as g (role text))
      )
      insert into person_grants (person_id, role, merchant_ids, facility_ids, connection_ids)
      select $1, g.role, g.merchant_ids, g.facility_ids, g.connection_ids
      from json_to_recordset($2::json) as g (role text, merchant_ids uuid[], facility_ids uuid[], connection_ids uuid[])
      on conflict (person_id, role) do update
      set merchant_ids = excluded.merchant_ids, facility_ids = excluded.facility_ids,
          connection_ids = excluded.connection_ids`,
    values: [personId, JSON.stringify(grants.map(toGrantRow))],
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
