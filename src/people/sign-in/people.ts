import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS, SECOND_MS } from "../../platform/time.ts";
import { readPasswordHash } from "../accounts-sql.ts";
import { type Auth, type AuthKeys, authKeys, createAuth, oidcPlugins } from "../library/auth.ts";
import type { PeopleContext } from "../person.ts";
import { COOKIE_PREFIX, cookieValue } from "../session-cookie.ts";
import { type Beginning, hasSignInVersion } from "../sessions-sql.ts";

/** What all operations of sign-in need. Made once for a listener. */
export type People = PeopleContext & {
  readonly keys: AuthKeys;
  /** better-auth. It is made when a person signs in for the first time. */
  readonly auth: () => Auth;
  /** The same with the identity provider, which it asks for its addresses: no other sign-in waits for that. */
  readonly providerAuth: () => Auth;
  /** After one of these did not respond in time: the next sign-in makes another one, which asks for the addresses again. */
  readonly dropProviderAuth: (auth: Auth) => void;
  readonly limits: PeopleLimits;
};

export type PeopleLimits = {
  /** An identity provider that needs longer is not available. */
  readonly providerMs: number;
};

const LIMITS: PeopleLimits = { providerMs: 10 * SECOND_MS };

export function openPeople(context: PeopleContext, limits = LIMITS): People {
  let auth: Auth | null = null;
  let providerAuth: Auth | null = null;
  return {
    ...context,
    keys: authKeys(context),
    auth: () => {
      auth ??= createAuth(context, []);
      return auth;
    },
    providerAuth: () => {
      providerAuth ??= createAuth(context, oidcPlugins(context));
      return providerAuth;
    },
    dropProviderAuth: (auth) => {
      if (providerAuth === auth) providerAuth = null;
    },
    limits,
  };
}

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

/** Its hash by scrypt, with a salt of its own. */
export async function hashPassword(people: People, password: string): Promise<string> {
  const { password: passwords } = await people.auth().$context;
  return passwords.hash(password);
}

/**
 * Whether it is the password of a person. It takes about the same time for a person who has none, and for no person at all (null):
 * the time of a response must not show which addresses are known.
 */
export async function isPassword(
  people: People,
  personId: string | null,
  password: string,
): Promise<boolean> {
  const hash = personId === null ? null : await readPasswordHash(people.db, personId);
  const { password: passwords } = await people.auth().$context;
  if (hash !== null) return passwords.verify({ hash, password });
  await passwords.hash(password);
  return false;
}

/** The browser, or the program, that signs in. */
export type Visitor = {
  /** The `Cookie` header. Empty: it sent none. */
  readonly cookie: string;
  readonly userAgent: string;
  readonly ipAddress: string;
  /** What attempts are counted by: the address, or the network of an IPv6 address. */
  readonly network: string;
  /** The `Origin` header, which was compared with the address of the service. Empty: it sent none. */
  readonly origin: string;
  readonly requestId: string;
  /** Id of the person that the page shows as signed in. Null: the request names none. */
  readonly expectedPersonId: string | null;
};

/** What better-auth reads of a request. */
export const headersOf = ({ cookie, userAgent, ipAddress, origin }: Visitor): Headers =>
  new Headers({
    ...(cookie !== "" && { cookie }),
    ...(origin !== "" && { origin }),
    "user-agent": userAgent.slice(0, 500),
    "x-forwarded-for": ipAddress,
  });
