import { createHmac, timingSafeEqual } from "node:crypto";
import type { Queryable } from "../platform/database/database.ts";
import { systemClock } from "../platform/time.ts";
import { type AuthAnswer, readAnswer } from "./library/answers.ts";
import { type AuthKeys, type Challenge, withChallenge } from "./library/auth.ts";
import { COOKIE_PREFIX, cookieValue } from "./session-cookie.ts";
import type { People, Visitor } from "./sign-in/people.ts";

const NAME = `${COOKIE_PREFIX}.passkey_challenge`;
/** better-auth keeps its cookie as long. The challenge itself contains its end. */
const KEPT_S = 300;

/** Asks better-auth for options of WebAuthn. The browser keeps their challenge, signed, and the database nothing (decision 0211). */
export async function askWithChallenge(
  { keys }: Pick<People, "keys">,
  ask: () => Promise<Response>,
): Promise<AuthAnswer> {
  const { result, challenge } = await withChallenge(ask);
  const answer = await readAnswer(result);
  const kept = challenge === null ? [] : [challengeCookie(challenge, keys)];
  return { ...answer, cookies: [...answer.cookies, ...kept] };
}

/**
 * Compares what a device has signed with the challenge that the browser has brought back. Its row is stored for that alone.
 * better-auth deletes it before it compares, but does not look for it without its own cookie, or the origin of the page. Null: there
 * is no challenge, or it has ended.
 */
export async function compareWithChallenge(
  people: People,
  { cookie }: Visitor,
  compare: () => Promise<Response>,
): Promise<{ answer: AuthAnswer; challenge: Challenge } | null> {
  // better-auth takes the time from the system.
  const challenge = challengeOf(cookie, people.keys, systemClock.now());
  if (challenge === null) return null;
  const { internalAdapter } = await people.auth().$context;
  await internalAdapter.createVerificationValue({ ...challenge });
  try {
    return { answer: await readAnswer(await compare()), challenge };
  } finally {
    await internalAdapter.deleteVerificationByIdentifier(challenge.identifier);
  }
}

const cookieName = (isSecure: boolean): string => (isSecure ? `__Secure-${NAME}` : NAME);

const sign = (content: string, { cookieSecret }: AuthKeys): Buffer =>
  createHmac("sha256", cookieSecret)
    .update(JSON.stringify(["passkey challenge", content]))
    .digest();

/** The cookie that brings a challenge back. */
function challengeCookie({ identifier, value, expiresAt }: Challenge, keys: AuthKeys): string {
  const content = Buffer.from(JSON.stringify([identifier, value, expiresAt.getTime()])).toString("base64url");
  const secure = keys.isSecure ? "; Secure" : "";
  const signed = `${content}.${sign(content, keys).toString("base64url")}`;
  return `${cookieName(keys.isSecure)}=${signed}; Max-Age=${KEPT_S}; Path=/auth; HttpOnly; SameSite=Lax${secure}`;
}

/** The challenge of a `Cookie` header. Null: there is none of ours, or it has ended. */
export function challengeOf(cookie: string, keys: AuthKeys, now: Date): Challenge | null {
  const [content = "", sent = ""] = cookieValue(cookie, cookieName(keys.isSecure))?.split(".") ?? [];
  const [signature, expected] = [Buffer.from(sent, "base64url"), sign(content, keys)];
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null;
  // What has our signature has the form of challengeCookie.
  const [identifier, value, end] = JSON.parse(Buffer.from(content, "base64url").toString()) as [
    string,
    string,
    number,
  ];
  return end > now.getTime() ? { identifier, value, expiresAt: new Date(end) } : null;
}

/**
 * Uses up a challenge of a passkey, so that what a device has signed is good once. Returns false if it was used before. The caller
 * has locked the person.
 */
export async function takeChallenge(
  tx: Queryable,
  { id, identifier, expiresAt, now }: { id: string; identifier: string; expiresAt: Date; now: Date },
): Promise<boolean> {
  const rows = await tx.query({
    name: "take-passkey-challenge",
    text: `
      insert into person_verifications (id, identifier, value, expires_at, created_at, updated_at)
      select $1, $2, '', $3, $4, $4
      where not exists (select from person_verifications v where v.identifier = $2)
      returning id`,
    values: [id, `used-${identifier}`, expiresAt, now],
  });
  return rows.length > 0;
}
