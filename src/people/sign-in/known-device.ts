import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS, SECOND_MS } from "../../platform/time.ts";
import type { AuthKeys } from "../auth/auth.ts";
import { COOKIE_PREFIX, cookieValue } from "../sessions/session-cookie.ts";

const NAME = `${COOKIE_PREFIX}.device`;
const KEPT_S = (180 * DAY_MS) / SECOND_MS;

const cookieName = (isSecure: boolean): string => (isSecure ? `__Secure-${NAME}` : NAME);

const sign = (id: string, account: string, { cookieSecret }: AuthKeys): string =>
  createHmac("sha256", cookieSecret)
    .update(JSON.stringify(["device", id, account]))
    .digest("base64url");

/** The browser, if the person of an account has signed in on it before. Null: it has not. */
export function knownDevice(cookie: string, account: string, keys: AuthKeys): string | null {
  const [id = "", sent = ""] = cookieValue(cookie, cookieName(keys.isSecure))?.split(".") ?? [];
  const expected = sign(id, account, keys);
  return sent.length === expected.length && timingSafeEqual(Buffer.from(sent), Buffer.from(expected))
    ? id
    : null;
}

/** The cookie that makes a browser known for an account. It gives no access. */
export function deviceCookie(account: string, keys: AuthKeys): string {
  const id = randomBytes(16).toString("base64url");
  const secure = keys.isSecure ? "; Secure" : "";
  const value = `${id}.${sign(id, account, keys)}`;
  return `${cookieName(keys.isSecure)}=${value}; Max-Age=${KEPT_S}; Path=/auth; HttpOnly; SameSite=Lax${secure}`;
}
