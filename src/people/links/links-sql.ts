import type { Queryable } from "../../platform/database/database.ts";
import type { LinkKind } from "./link.ts";

export type NewLink = {
  readonly id: string;
  readonly personId: string;
  readonly kind: LinkKind;
  readonly tokenHash: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
};

export async function insertLink(tx: Queryable, link: NewLink): Promise<void> {
  await tx.query({
    name: "insert-person-link",
    text: `
      insert into person_links (id, person_id, kind, token_hash, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [link.id, link.personId, link.kind, link.tokenHash, link.now, link.expiresAt],
  });
}

/** The person of a link that could be used now. Only its use decides. */
export async function findPersonOfLink(
  db: Queryable,
  tokenHash: Buffer,
  kinds: readonly LinkKind[],
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-link",
    text: `
      select l.person_id
      from person_links l
      join people p on p.id = l.person_id
      where l.token_hash = $1 and l.kind = any($2) and l.expires_at > $3 and (l.used_at is null or l.kind = 'demo')
        and p.disabled_at is null`,
    values: [tokenHash, kinds, now],
  });
  return row?.person_id ?? null;
}

/**
 * Uses up a link: of two that use it at once, one gets its person. A link of the demo is not used up. Null if there is no
 * such link, it has expired or was used.
 */
export async function useLink(
  tx: Queryable,
  tokenHash: Buffer,
  kinds: readonly LinkKind[],
  now: Date,
): Promise<{ personId: string; kind: LinkKind } | null> {
  const [row] = await tx.query<{ person_id: string; kind: LinkKind }>({
    name: "use-person-link",
    text: `
      update person_links l
      set used_at = $3
      from people p
      where l.token_hash = $1 and l.kind = any($2) and l.expires_at > $3 and (l.used_at is null or l.kind = 'demo')
        and p.id = l.person_id and p.disabled_at is null
      returning l.person_id, l.kind`,
    values: [tokenHash, kinds, now],
  });
  return row === undefined ? null : { personId: row.person_id, kind: row.kind };
}

/** Deletes the links of a person that are of these kinds, so that no earlier one is valid any more. */
export async function deleteLinks(
  tx: Queryable,
  personId: string,
  kinds: readonly LinkKind[],
): Promise<void> {
  await tx.query({
    name: "delete-person-links",
    text: "delete from person_links where person_id = $1 and kind = any($2)",
    values: [personId, kinds],
  });
}

/** Deletes the links of a person by which it could sign in for the first time, if it has not signed in before. */
export async function deleteFirstLinks(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-first-person-links",
    text: `
      delete from person_links l
      using people p
      where l.person_id = $1 and l.kind = 'sign-in' and l.used_at is null and p.id = l.person_id and p.accepted_at is null`,
    values: [personId],
  });
}

/** Deletes the links of a person that could still be used, but for those of the demo. Returns how many. */
export async function deleteUsableLinks(tx: Queryable, personId: string, now: Date): Promise<number> {
  const rows = await tx.query({
    name: "delete-usable-person-links",
    text: `
      delete from person_links
      where person_id = $1 and kind <> 'demo' and used_at is null and expires_at > $2
      returning id`,
    values: [personId, now],
  });
  return rows.length;
}

/** Deletes the links of a person that have expired or were used. */
export async function deleteSpentLinks(
  tx: Queryable,
  personId: string,
  kind: LinkKind,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "delete-spent-person-links",
    text: `
      delete from person_links
      where person_id = $1 and kind = $2 and (expires_at <= $3 or used_at is not null)`,
    values: [personId, kind, now],
  });
}

/** Deletes the links of the demo, which only the demo accepts. Returns how many. */
export async function removeDemoLinks(db: Queryable): Promise<number> {
  const rows = await db.query({
    name: "delete-demo-links",
    text: "delete from person_links where kind = 'demo' returning id",
    values: [],
  });
  return rows.length;
}
