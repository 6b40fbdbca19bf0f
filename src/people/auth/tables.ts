import type { Clock } from "../../platform/clock.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { SESSION_MAX_MS } from "../person.ts";

/** Our tables and columns, as better-auth finds them. */
export const tables = (clock: Clock) =>
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
