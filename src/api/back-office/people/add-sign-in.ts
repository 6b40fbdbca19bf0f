import type { FastifyInstance } from "fastify";
import type { PeopleContext } from "../../../people/context.ts";
import { openPeople } from "../../../people/sign-in/people.ts";
import type { Metrics } from "../../../platform/metrics.ts";
import { addRoute } from "../../http/add-route.ts";
import { problemWriter } from "../../http/replies.ts";
import { callbackRoutes } from "./callback-routes.ts";
import { openRoutes } from "./open-routes.ts";
import { visitorOf } from "./visitor-of.ts";

/** Adds the routes with which people sign in. They need no token and no session. */
export function addSignIn(app: FastifyInstance, context: PeopleContext, { requests }: Metrics): void {
  const people = openPeople(context);
  const problems = problemWriter(context.config.errorsBaseUrl);
  const options = {
    name: "back-office",
    operationsFor: () => people,
    authenticate: visitorOf(context),
    metrics: requests,
  } as const;
  for (const row of [...openRoutes, ...callbackRoutes]) addRoute(app, row, options, problems);
}
