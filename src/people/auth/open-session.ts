import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";

/**
 * Opens a session for a person who has proved with a link who it is. It has no path: only our own code can call it.
 */
export const openSessionPlugin = () =>
  ({
    id: "open-session",
    endpoints: {
      openSession: createAuthEndpoint(
        { method: "POST", metadata: { $Infer: { body: {} as { personId: string } } } }, // Only names the type of the body.
        async (ctx) => {
          const { personId } = ctx.body;
          const user = await ctx.context.internalAdapter.findUserById(personId);
          const session = user === null ? null : await ctx.context.internalAdapter.createSession(user.id);
          if (user === null || session === null)
            throw new APIError("UNAUTHORIZED", { code: "FAILED_TO_CREATE_SESSION" });
          await setSessionCookie(ctx, { session, user });
          return ctx.json({ status: true });
        },
      ),
    },
  }) satisfies BetterAuthPlugin;
