import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { after, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { hashToken, makeToken } from "./cookies.ts";
import type { PeopleContext } from "./person.ts";

/** What a link is for. */
export type LinkKind = "invitation" | "reset" | "sign-in" | "demo";

/** The links of one person. All but those of the demo, which stay as long as it runs. */
export const PERSONAL_LINKS: readonly LinkKind[] = ["invitation", "reset", "sign-in"];

/** How long a link is valid. */
const LIFETIMES_MS: Readonly<Record<LinkKind, number>> = {
  invitation: 7 * DAY_MS,
  reset: HOUR_MS,
  "sign-in": HOUR_MS,
  demo: 7 * DAY_MS,
};

/** The pages of the console that a link opens. */
const PAGES: Readonly<Record<LinkKind, string>> = {
  invitation: "welcome",
  reset: "reset-password",
  "sign-in": "sign-in",
  demo: "sign-in",
};

/** 256 random bits, with a prefix that secret scanners can find. */
const TOKEN = /^pol_[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of a link's token. Another one is rejected without a look into the database. */
export const isLinkToken = (text: string): boolean => TOKEN.test(text);

export type MadeLink = { readonly url: string; readonly expiresAt: Date };

/**
 * Makes a link for a person. Earlier ones of the same kind end, so a person has at most one of each. A reset ends none that
 * is valid, because a stranger can request it: the limit of its mails bounds how many there are (docs/design/people.md, "Links").
 */
export async function makeLink(
  tx: Queryable,
  { config, clock, newId }: Pick<PeopleContext, "config" | "clock" | "newId">,
  personId: string,
  kind: LinkKind,
): Promise<MadeLink> {
  const now = clock.now();
  const token = `pol_${makeToken()}`;
  const expiresAt = after(now, LIFETIMES_MS[kind]);
  await tx.query({
    name: "insert-person-link",
    text: `
      with earlier as (
        delete from person_links
        where person_id = $2 and kind = $3 and (kind <> 'reset' or used_at is not null or expires_at <= $5)
      )
      insert into person_links (id, person_id, kind, token_hash, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [newId(), personId, kind, hashToken(token), now, expiresAt],
  });
  // The token is in the fragment, which browsers do not send: it appears in no log, and a program that only follows the links of
  // a mail does not use it up.
  return { url: `${config.backOfficeUrl}/${PAGES[kind]}#token=${token}`, expiresAt };
}

/** Only the demo accepts its links: a service that is started otherwise on its database removes them. */
export async function deleteDemoLinks({ db }: Pick<Context, "db">): Promise<void> {
  await db.query({
    name: "delete-demo-links",
    text: "delete from person_links where kind = 'demo'",
    values: [],
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
 * Uses up a link, and returns its kind: of two requests that use it at once, one gets it. A link of the demo is not used up. Null if
 * there is no such link, it has expired or was used.
 */
export async function useLink(
  tx: Queryable,
  tokenHash: Buffer,
  kinds: readonly LinkKind[],
  now: Date,
): Promise<LinkKind | null> {
  const [row] = await tx.query<{ kind: LinkKind }>({
    name: "use-person-link",
    text: `
      update person_links l
      set used_at = $3
      from people p
      where l.token_hash = $1 and l.kind = any($2) and l.expires_at > $3 and (l.used_at is null or l.kind = 'demo')
        and p.id = l.person_id and p.disabled_at is null
      returning l.kind`,
    values: [tokenHash, kinds, now],
  });
  return row?.kind ?? null;
}

/** Deletes the links of a person that are of these kinds, so that no earlier one is valid any more. Returns how many could still be used. */
export async function deleteLinks(
  tx: Queryable,
  personId: string,
  kinds: readonly LinkKind[],
  now: Date,
): Promise<number> {
  const rows = await tx.query<{ usable: boolean }>({
    name: "delete-person-links",
    text: `
      delete from person_links
      where person_id = $1 and kind = any($2)
      returning used_at is null and expires_at > $3 as usable`,
    values: [personId, kinds, now],
  });
  return rows.filter(({ usable }) => usable).length;
}
