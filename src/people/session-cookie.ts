import { createHmac, timingSafeEqual } from "node:crypto";

/** The prefix of all cookies of the back office. */
export const COOKIE_PREFIX = "partner-orders";
const NAME = `${COOKIE_PREFIX}.session_token`;

/** The name of the cookie of a session. Browsers accept the prefix from https alone. */
export const sessionCookieName = (isSecure: boolean): string => (isSecure ? `__Secure-${NAME}` : NAME);

/** The name of the cookie of better-auth between a right password and the code. */
export const codeStepCookieName = (isSecure: boolean): string =>
  `${isSecure ? "__Secure-" : ""}${COOKIE_PREFIX}.two_factor`;

/** The value of a cookie in a `Cookie` header. Null if there is none. */
export function cookieValue(header: string | undefined, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

/** A `Cookie` header without one of its cookies. */
export const withoutCookie = (header: string, name: string): string =>
  header
    .split(";")
    .filter((part) => cookieValue(part, name) === null)
    .join(";")
    .trim();

/** Cookies that are set, without those of a name. */
export const withoutSetCookie = (cookies: readonly string[], name: string): string[] =>
  cookies.filter((cookie) => cookieValue(cookie, name) === null);

/** The text of the signed cookie that is set last of a name. Null if there is none. */
export function setSignedText(cookies: readonly string[], name: string, secret: string): string | null {
  const value = cookies.map((cookie) => cookieValue(cookie, name)).findLast((found) => found !== null);
  return signedText(value ?? "", secret);
}

/**
 * The text in the value of a signed cookie. Null if its signature is not of this secret. better-auth writes it: the text, a dot and
 * its HMAC with SHA-256 in base64, percent-encoded.
 */
export function signedText(value: string, secret: string): string | null {
  const text = decoded(value);
  const dot = text.lastIndexOf(".");
  if (dot < 1) return null;
  const signed = text.slice(0, dot);
  const sent = Buffer.from(text.slice(dot + 1), "base64");
  const expected = createHmac("sha256", secret).update(signed).digest();
  return sent.length === expected.length && timingSafeEqual(sent, expected) ? signed : null;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return "";
  }
}
