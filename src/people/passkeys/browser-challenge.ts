import { createHmac, timingSafeEqual } from "node:crypto";
import { systemClock } from "../../platform/clock.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import type { AuthKeys } from "../auth/auth.ts";
import { COOKIE_PREFIX, cookieValue } from "../sessions/session-cookie.ts";
import type { People } from "../sign-in/people.ts";
import type { Visitor } from "../sign-in/visitor.ts";
import { type Challenge, withChallenge } from "./withhold-challenge.ts";

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
