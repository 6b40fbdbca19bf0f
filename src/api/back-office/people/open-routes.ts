import type { People } from "../../../people/sign-in/people.ts";
import type { Route } from "../../http/route.ts";
import { accountRoutes } from "./account-routes.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { signInRoutes } from "./sign-in-routes.ts";

/** All routes of people themselves: each looks for the session on its own, and none needs a role. */
export const openRoutes: readonly Route<People>[] = [
  ...signInRoutes,
  ...accountRoutes,
  ...passkeyRoutes,
  ...sessionRoutes,
];
