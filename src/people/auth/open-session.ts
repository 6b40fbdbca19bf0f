import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";

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
export const openSessionPlugin = () =>
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
