import { createHash, randomBytes } from "node:crypto";
import type { Queryable } from "../platform/database/database.ts";
import { SecretBoxError } from "../platform/secret-box.ts";
import { after, SECOND_MS } from "../platform/time.ts";
import type { PeopleContext } from "./person.ts";

type Configured = Pick<PeopleContext, "config">;

const isSecure = ({ config }: Configured): boolean => config.backOfficeUrl.startsWith("https:");

/**
 * Browsers accept the prefix from https alone, and only for the host that sets the cookie and all of its paths: a sibling name
 * cannot plant one (docs/design/people.md, "Cookies and origin").
 */
const cookieName = (name: string, secure: boolean): string =>
  `${secure ? "__Host-" : ""}partner-orders.${name}`;

/** The name of the cookie of a session. */
export const sessionCookieName = (secure: boolean): string => cookieName("session_token", secure);

/** 256 random bits for a cookie. The database has their hash alone, so that a copy of it opens no session. */
export const makeToken = (): string => randomBytes(32).toString("base64url");

export const hashToken = (token: string): Buffer => createHash("sha256").update(token).digest();

/**
 * A cookie that no script can read, and that browsers send with no request of another site but a visit.
 * @param maxAgeMs 0 removes it
 */
export function setCookie(context: Configured, name: string, value: string, maxAgeMs: number): string {
  const secure = isSecure(context);
  const attributes = `Max-Age=${maxAgeMs / SECOND_MS}; Path=/; HttpOnly; SameSite=Lax`;
  return `${cookieName(name, secure)}=${value}; ${attributes}${secure ? "; Secure" : ""}`;
}

/** Of a response that sets a cookie. Null: it sets none. */
export const cookieHeaders = (cookie: string | null) => ({
  ...(cookie !== null && { "set-cookie": cookie }),
  "cache-control": "no-store",
});

/** The value of one of our cookies in a `Cookie` header. Null if there is none. */
export const readCookie = (context: Configured, header: string | undefined, name: string): string | null =>
  cookieValue(header, cookieName(name, isSecure(context)));

/** The value of a cookie in a `Cookie` header. Null if there is none. */
function cookieValue(header: string | undefined, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

type Content = Readonly<Record<string, string>>;

/**
 * A cookie with what the browser brings back, encrypted. Strangers begin sign-ins, too: the database stores nothing for them.
 * @param purpose the cookie is good for it alone
 */
export function sealedCookie(
  context: PeopleContext,
  { name, purpose, lifetimeMs }: { name: string; purpose: string; lifetimeMs: number },
  content: Content,
): string {
  const endsAt = after(context.clock.now(), lifetimeMs).toISOString();
  const sealed = context.secrets.seal(JSON.stringify({ ...content, endsAt }), purpose);
  return setCookie(context, name, sealed, lifetimeMs);
}

/** What a sealed cookie contains, and when it ends. Null: there is none of ours for this purpose, or it has ended. */
export function openSealedCookie(
  context: PeopleContext,
  header: string,
  { name, purpose }: { name: string; purpose: string },
): { readonly content: Content; readonly endsAt: Date } | null {
  try {
    const text = context.secrets.open(readCookie(context, header, name) ?? "", purpose);
    const content = JSON.parse(text) as Content; // What opens has the form of sealedCookie.
    const endsAt = new Date(content["endsAt"] ?? 0);
    return context.clock.now() < endsAt ? { content, endsAt } : null;
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
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
