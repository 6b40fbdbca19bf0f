import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS, SECOND_MS } from "../../platform/time.ts";
import type { AuthKeys } from "../auth/auth.ts";
import { COOKIE_PREFIX, cookieValue } from "../sessions/session-cookie.ts";
import { type Beginning, hasSignInVersion } from "../sessions/sign-ins-sql.ts";
import type { People } from "./people.ts";

const NAME = `${COOKIE_PREFIX}.device`;
const KEPT_S = (180 * DAY_MS) / SECOND_MS;

const cookieName = (isSecure: boolean): string => (isSecure ? `__Secure-${NAME}` : NAME);

const sign = (device: Device, { cookieSecret }: AuthKeys): string =>
  createHmac("sha256", cookieSecret)
    .update(JSON.stringify(["device", ...device]))
    .digest("base64url");

/** A browser, the person that has signed in on it, and the version of its sign-ins. */
type Device = readonly [id: string, personId: string, signInVersion: string];

/**
 * The browser, if the person of an account has signed in on it since its sign-ins were last ended (decision 0210). Null: it has not.
 * The database is asked about a cookie of our own alone: the time of a response must not show which addresses are known.
 */
export async function knownDevice(
  { db, keys }: Pick<People, "db" | "keys">,
  cookie: string,
  account: string,
): Promise<string | null> {
  const [id = "", personId = "", version = "", sent = ""] =
    cookieValue(cookie, cookieName(keys.isSecure))?.split(".") ?? [];
  const expected = sign([id, personId, version], keys);
  if (sent.length !== expected.length || !timingSafeEqual(Buffer.from(sent), Buffer.from(expected)))
    return null;
  const person = { id: personId, signInVersion: Number(version) };
  return (await hasSignInVersion(db, account, person)) ? id : null;
}

/** The cookie that makes a browser known for the account of a person. It gives no access. */
export function deviceCookie({ id: personId, signInVersion }: Beginning, keys: AuthKeys): string {
  const device: Device = [randomBytes(16).toString("base64url"), personId, String(signInVersion)];
  const secure = keys.isSecure ? "; Secure" : "";
  const value = [...device, sign(device, keys)].join(".");
  return `${cookieName(keys.isSecure)}=${value}; Max-Age=${KEPT_S}; Path=/auth; HttpOnly; SameSite=Lax${secure}`;
}
