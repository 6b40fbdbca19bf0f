import type { PeopleContext } from "../context.ts";
import { hasAccount } from "./accounts-sql.ts";

/** The service never calls the identity provider after the sign-in, so it keeps none of its tokens. */
export const NO_TOKENS = { accessToken: null, refreshToken: null, idToken: null };

/**
 * Before the account of an identity provider is linked with the person of its mail address: rejects it for a person who has one
 * of this provider. Another human has the address now (decision 0219). If two are linked at the same time, the database rejects
 * the second.
 */
export const beforeAccount =
  ({ db }: Pick<PeopleContext, "db">) =>
  async ({
    userId,
    providerId,
  }: {
    userId: string;
    providerId: string;
  }): Promise<false | { data: typeof NO_TOKENS }> =>
    (await hasAccount(db, userId, providerId)) ? false : { data: NO_TOKENS };
