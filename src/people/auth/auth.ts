import { betterAuth } from "better-auth";
import type { PeopleContext } from "../context.ts";
import { withholdChallenge } from "../passkeys/withhold-challenge.ts";
import { PASSWORD_LENGTH_MAX } from "../person.ts";
import { COOKIE_PREFIX } from "../sessions/session-cookie.ts";
import { authSecrets, cookieSecretOf } from "./auth-secrets.ts";
import { beforeAccount, NO_TOKENS } from "./before-account.ts";
import { beforeSession } from "./before-session.ts";
import { kyselyPool } from "./kysely-pool.ts";
import { keepLinkedAccount, type oidcPlugins } from "./oidc.ts";
import { openSessionPlugin } from "./open-session.ts";
import { passkeys, secondFactor } from "./second-factors.ts";
import { tables } from "./tables.ts";

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
