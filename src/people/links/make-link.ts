import type { Queryable } from "../../platform/database/database.ts";
import { after } from "../../platform/time.ts";
import type { PeopleContext } from "../context.ts";
import { hashLinkToken, LINK_LIFETIMES_MS, type LinkKind, linkUrl, makeLinkToken } from "./link.ts";
import { deleteLinks, deleteSpentLinks, insertLink } from "./links-sql.ts";

export type MadeLink = { readonly url: string; readonly expiresAt: Date };

/**
 * Makes a link for a person. Earlier ones of the same kind end, so a person has at most one of each. A reset ends none that
 * is valid, because a stranger can request it: the limit of its mails bounds how many there are (decision 0200).
 */
export async function makeLink(
  tx: Queryable,
  { config, clock, newId }: Pick<PeopleContext, "config" | "clock" | "newId">,
  personId: string,
  kind: LinkKind,
): Promise<MadeLink> {
  const now = clock.now();
  const token = makeLinkToken();
  const expiresAt = after(now, LINK_LIFETIMES_MS[kind]);
  if (kind === "reset") await deleteSpentLinks(tx, personId, kind, now);
  else await deleteLinks(tx, personId, [kind]);
  await insertLink(tx, { id: newId(), personId, kind, tokenHash: hashLinkToken(token), now, expiresAt });
  return { url: linkUrl(config.backOfficeUrl, kind, token), expiresAt };
}
