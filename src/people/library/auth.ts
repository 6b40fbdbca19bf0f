import { AsyncLocalStorage } from "node:async_hooks";
import { passkey } from "@better-auth/passkey";
import { type BetterAuthPlugin, betterAuth } from "better-auth";
import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { genericOAuth, twoFactor } from "better-auth/plugins";
import type { Config } from "../../platform/config.ts";
import type { Database, Queryable } from "../../platform/database/database.ts";
import { type Clock, MINUTE_MS, SECOND_MS, systemClock } from "../../platform/time.ts";
import { findPersonOfSubject, hasAccount } from "../accounts-sql.ts";
import { isEnabled, readPerson, readPersonByEmail } from "../people-sql.ts";
import {
  normalEmail,
  PASSWORD_LENGTH_MAX,
  type PeopleContext,
  type Person,
  SESSION_MAX_MS,
  SESSIONS_MAX,
} from "../person.ts";
import { COOKIE_PREFIX } from "../session-cookie.ts";
import { deleteOldestSessions } from "../sessions-sql.ts";
import { authSecrets, cookieSecretOf } from "./auth-secrets.ts";

export const AUTH_PATH = "/auth";

export type AuthKeys = { readonly cookieSecret: string; readonly isSecure: boolean };

/** What signs the cookies. With https, browsers send them with https alone. */
export const authKeys = ({ config, secrets }: Pick<PeopleContext, "config" | "secrets">): AuthKeys => ({
  cookieSecret: cookieSecretOf(secrets),
  isSecure: config.backOfficeUrl.startsWith("https:"),
});

/**
 * better-auth, set up for this service (decision 0115). Only functions of `api` are called: its router, with all its other
 * paths, is not served. The limits of attempts and the check of the origin are ours.
 */
export function createAuth(context: PeopleContext, provider: ReturnType<typeof oidcPlugins>) {
  const { config, clock, log, newId } = context;
  const { isSecure } = authKeys(context);
  return betterAuth({
    appName: "Partner Orders",
    baseURL: config.backOfficeUrl,
    basePath: AUTH_PATH,
    secrets: authSecrets(context.secrets),
    database: kyselyPool(context.db),
    telemetry: { enabled: false },
    logger: {
      // Its warnings repeat what the caller learns, and its texts can contain mail addresses.
      level: "error",
      log: (_level, message) => log.warn({ reason: message }, "sign-in failed unexpectedly"),
    },
    emailAndPassword: {
      enabled: false, // Our own code compares passwords when a person signs in, and stores them.
      maxPasswordLength: 2 * PASSWORD_LENGTH_MAX, // It counts UTF-16 units. Our schemas count characters, of up to two.
    },
    ...tables(clock),
    databaseHooks: {
      session: { create: { before: beforeSession(context) } },
      verification: { create: { before: withholdChallenge } },
      account: {
        create: { before: beforeAccount(context), after: keepLinkedAccount },
        update: { before: async () => ({ data: NO_TOKENS }) },
      },
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: isSecure,
      database: { generateId: () => newId(), validateSchema: false },
    },
    plugins: [secondFactor(), passkeys(config), ...provider, openSessionPlugin()],
  });
}

export type Auth = ReturnType<typeof createAuth>;

/** The service never calls the identity provider after the sign-in, so it keeps none of its tokens. */
const NO_TOKENS = { accessToken: null, refreshToken: null, idToken: null };

/**
 * Before the account of an identity provider is linked with the person of its mail address: rejects it for a person who has one
 * of this provider. Another human has the address now (decision 0219). If two are linked at the same time, the database rejects
 * the second.
 */
const beforeAccount =
  ({ db }: Pick<PeopleContext, "db">) =>
  async ({
    userId,
    providerId,
  }: {
    userId: string;
    providerId: string;
  }): Promise<false | { data: typeof NO_TOKENS }> =>
    (await hasAccount(db, userId, providerId)) ? false : { data: NO_TOKENS };

/** Before a session is stored, however the person signs in: rejects it for a person who is disabled, and makes room. */
const beforeSession =
  ({ db }: Pick<PeopleContext, "db">) =>
  async ({ userId }: { userId: string }): Promise<boolean> => {
    if (!(await isEnabled(db, userId))) return false;
    await deleteOldestSessions(db, userId, SESSIONS_MAX - 1);
    return true;
  };

type Client = {
  query: (text: string, parameters: readonly unknown[]) => Promise<unknown>;
  release: () => void;
};

/**
 * Our connections in the form that better-auth's query builder expects, so that it has the same time limits and the same
 * pool as the other statements of the back office.
 */
export const kyselyPool = (db: Pick<Database, "withClient">) => ({
  connect: () =>
    new Promise<Client>((resolve, reject) => {
      db.withClient(
        (client) =>
          new Promise<void>((release) => {
            // pg's client has the methods; only its overloads differ.
            const query = client.query.bind(client) as unknown as Client["query"];
            resolve({ query, release });
          }),
      ).catch(reject);
    }),
  end: async () => undefined, // Who opened the pool closes it.
});

export const OIDC_PROVIDER = "oidc";

/** What is known of a return from the identity provider. */
export type ProviderReturn = {
  /** The person as it was before better-auth looked for it. Null: the provider has confirmed no person that is known. */
  readonly beginning: Person | null;
  /** Id of the account that better-auth has linked with the person now. Null: it was linked before, or it is not. */
  readonly linkedAccountId: string | null;
};

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** The return that is evaluated now. */
const returning = new AsyncLocalStorage<Writable<ProviderReturn>>();

/** Evaluates a return from the identity provider, and keeps what better-auth does not return. */
export async function withReturn<Result>(
  evaluate: () => Promise<Result>,
): Promise<ProviderReturn & { result: Result }> {
  const store: Writable<ProviderReturn> = { beginning: null, linkedAccountId: null };
  const result = await returning.run(store, evaluate);
  return { result, ...store };
}

/** Called after better-auth has linked an account. */
async function keepLinkedAccount({ id }: { readonly id: string }): Promise<void> {
  const store = returning.getStore();
  if (store !== undefined) store.linkedAccountId = id;
}

/**
 * Sign-in by the identity provider of the configuration. There is no sign-up: a person must have been invited, and is
 * found by the subject, or the first time by an address that the provider has verified. better-auth verifies the signature of the ID
 * token, its issuer, audience, end and nonce.
 */
export function oidcPlugins({ db, config }: Pick<PeopleContext, "db" | "config">) {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName } = config;
  return oidcIssuer === null || oidcClientId === null || oidcClientSecret === null
    ? []
    : [
        genericOAuth({
          config: [
            {
              providerId: OIDC_PROVIDER,
              name: oidcName,
              discoveryUrl: `${oidcIssuer}/.well-known/openid-configuration`,
              clientId: oidcClientId,
              clientSecret: oidcClientSecret,
              scopes: ["openid", "email", "profile"],
              pkce: true,
              requireIdTokenVerification: true,
              disableSignUp: true,
              disableImplicitSignUp: true,
              accountSubject: ({ tokens }) => subjectOf(tokens.idToken, oidcClientId),
              // It is called with the verified ID token, before a person is looked for. It changes nothing of the profile.
              mapProfileToUser: async (profile) => {
                const store = returning.getStore();
                if (store !== undefined) store.beginning = await findPersonOfProfile(db, profile);
                return {};
              },
            },
          ],
        }),
      ];
}

/** The person of a subject, or the first time of an address. better-auth decides whether it is verified. */
async function findPersonOfProfile(
  db: Queryable,
  { sub, email }: Readonly<Record<string, unknown>>,
): Promise<Person | null> {
  const personId = await findPersonOfSubject(db, OIDC_PROVIDER, String(sub));
  if (personId !== null) return readPerson(db, personId);
  return typeof email === "string" ? readPersonByEmail(db, normalEmail(email)) : null;
}

/** The clock of the provider may be ahead of ours. */
const AHEAD_MAX_MS = MINUTE_MS;

/**
 * The subject of a verified ID token. Empty, which better-auth rejects: there is no token, which OpenID Connect requires (Core,
 * section 3.1.3.3), or it was issued to another client or in the future (section 3.1.3.7). Without a token the library would take
 * the subject from the response of another endpoint.
 */
function subjectOf(idToken: string | undefined, clientId: string): string {
  if (idToken === undefined) return "";
  const { sub, aud, azp, iat } = claimsOf(idToken);
  const isOurs = azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId;
  const isIssued = typeof iat === "number" && iat * SECOND_MS <= systemClock.now().getTime() + AHEAD_MAX_MS;
  return isOurs && isIssued && typeof sub === "string" ? sub : "";
}

const claimsOf = (idToken: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString());

type Context = Parameters<typeof setSessionCookie>[0];

const METHOD = {
  method: "POST",
  metadata: { $Infer: { body: {} as { personId: string } } }, // Only names the type of the body.
} as const;

/**
 * By this path the plugin for the second factor recognizes a sign-in with a password: it ends the session again, and asks
 * for a code. Like all paths of better-auth it is not served. The library's own endpoint of the path rejects addresses that
 * a person can have, such as operator@localhost (decision 0199).
 */
const PASSWORD_PATH = "/sign-in/email";

/** Opens sessions for people who have proved to our own code who they are. */
const openSessionPlugin = () =>
  ({
    id: "open-session",
    endpoints: {
      /** After a link, which needs no second factor. It has no path: only our own code can call it. */
      openSession: createAuthEndpoint(METHOD, async (ctx) => open(ctx, ctx.body.personId)),
      /** After a password. */
      openPasswordSession: createAuthEndpoint(PASSWORD_PATH, METHOD, async (ctx) =>
        open(ctx, ctx.body.personId),
      ),
    },
  }) satisfies BetterAuthPlugin;

async function open(ctx: Context, personId: string): Promise<{ status: true }> {
  const user = await ctx.context.internalAdapter.findUserById(personId);
  const session = user === null ? null : await ctx.context.internalAdapter.createSession(user.id);
  if (user === null || session === null)
    throw new APIError("UNAUTHORIZED", { code: "FAILED_TO_CREATE_SESSION" });
  await setSessionCookie(ctx, { session, user });
  return { status: true };
}

/** One-time codes of RFC 6238, with backup codes. Our routes decide who may change them. */
const secondFactor = () =>
  twoFactor({
    issuer: "Partner Orders",
    twoFactorTable: "person_two_factors",
    allowPasswordless: true,
    schema: {
      user: { fields: { twoFactorEnabled: "two_factor_enabled" } },
      twoFactor: {
        fields: {
          userId: "person_id",
          backupCodes: "backup_codes",
          failedVerificationCount: "failed_verification_count",
          lockedUntil: "locked_until",
        },
      },
    },
  });

/** Passkeys need https, or localhost, and are for the host of BACK_OFFICE_URL alone. */
const passkeys = (config: Pick<Config, "backOfficeUrl">) =>
  passkey({
    rpID: new URL(config.backOfficeUrl).hostname,
    rpName: "Partner Orders",
    // A device alone proves little: it must have verified the person, by a finger or a code. Otherwise the passkey is not
    // even stored, since it could never sign in.
    registration: {
      afterVerification: async ({ verification }) => {
        if (!verification.registrationInfo?.userVerified) throw notVerified();
      },
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        if (!verification.authenticationInfo.userVerified) throw notVerified();
      },
    },
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    schema: {
      passkey: {
        modelName: "person_passkeys",
        fields: {
          userId: "person_id",
          publicKey: "public_key",
          credentialID: "credential_id",
          deviceType: "device_type",
          backedUp: "backed_up",
          createdAt: "created_at",
        },
      },
    },
  });

const notVerified = () => new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED" });

/** Our tables and columns, as better-auth finds them. */
const tables = (clock: Clock) =>
  ({
    user: {
      modelName: "people",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
    },
    session: {
      modelName: "person_sessions",
      fields: {
        userId: "person_id",
        expiresAt: "expires_at",
        createdAt: "created_at",
        updatedAt: "updated_at",
        ipAddress: "ip_address",
        userAgent: "user_agent",
      },
      additionalFields: {
        signedInAt: {
          type: "date",
          fieldName: "signed_in_at",
          input: false,
          defaultValue: () => clock.now(),
        },
        seenAt: { type: "date", fieldName: "seen_at", input: false, defaultValue: () => clock.now() },
        authenticatedAt: {
          type: "date",
          fieldName: "authenticated_at",
          input: false,
          defaultValue: () => clock.now(),
        },
        // finishSession makes it true.
        finished: { type: "boolean", input: false, defaultValue: false },
      },
      expiresIn: SESSION_MAX_MS / SECOND_MS,
      disableSessionRefresh: true,
      // Our routes decide by authenticated_at.
      freshAge: 0,
    },
    account: {
      modelName: "person_accounts",
      fields: {
        userId: "person_id",
        providerId: "provider_id",
        accountId: "account_id",
        accessToken: "access_token",
        refreshToken: "refresh_token",
        idToken: "id_token",
        accessTokenExpiresAt: "access_token_expires_at",
        refreshTokenExpiresAt: "refresh_token_expires_at",
        createdAt: "created_at",
        updatedAt: "updated_at",
      },
      // A visit to the identity provider is in an encrypted cookie, and not in a row: strangers begin visits, too (decision 0211).
      storeStateStrategy: "cookie",
      // A person who was invited needs no other proof than the provider's own, that the address is verified.
      accountLinking: { enabled: true, requireLocalEmailVerified: false },
    },
    verification: {
      modelName: "person_verifications",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
      // It would read and delete all expired rows while a person waits for its sign-in. The job does it in batches (decision 0211).
      disableCleanup: true,
    },
  }) as const;

/** The row in which better-auth would store a challenge of WebAuthn. Its own cookie has the identifier alone. */
export type Challenge = {
  readonly identifier: string;
  readonly value: string;
  readonly expiresAt: Date;
};

/** The options that are made now. */
const making = new AsyncLocalStorage<{ challenge: Challenge | null }>();

/** Called before better-auth stores a row. A challenge is kept out of the database (decision 0211). */
async function withholdChallenge(row: Challenge): Promise<boolean> {
  const store = making.getStore();
  if (store === undefined) return true;
  store.challenge = row;
  return false;
}

/** Makes options of WebAuthn, and returns the challenge that they contain. Null: better-auth has made none. */
export async function withChallenge<Result>(
  make: () => Promise<Result>,
): Promise<{ result: Result; challenge: Challenge | null }> {
  const store: { challenge: Challenge | null } = { challenge: null };
  const result = await making.run(store, make);
  return { result, challenge: store.challenge };
}
