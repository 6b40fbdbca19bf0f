import { Type } from "typebox";
import { endOtherSessions, endOwnSession } from "../../../people/own-account/end-sessions.ts";
import { listSessions } from "../../../people/sessions/sessions-sql.ts";
import type { People } from "../../../people/sign-in/people.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { notFound } from "../../../platform/wire/problems.ts";
import type { Route } from "../../http/route.ts";
import { SessionListSchema, toWireSessions } from "./session-wire.ts";
import { cookieHeaders, notSignedIn, route, sessionOf } from "./sign-in-wire.ts";

const TAG = "Own account";

/** People see and end their own sessions. */
export const sessionRoutes: readonly Route<People>[] = [
  route({
    method: "GET",
    path: "/api/me/sessions",
    operationId: "listOwnSessions",
    tag: TAG,
    summary: "List your sessions",
    responses: {
      200: { description: "All of them, the one that was used last first.", schema: SessionListSchema },
    },
    problems: [],
    handle: async ({ caller }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const sessions = await listSessions(people.db, opened.person.id);
      return { status: 200, body: toWireSessions(sessions, opened.session.id) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/me/sessions/{id}",
    operationId: "endOwnSession",
    tag: TAG,
    summary: "End one of your sessions",
    params: Type.Object({ id: Type.String({ description: "Id of the session." }) }),
    responses: { 204: { description: "The next request of the session is rejected." } },
    problems: ["not-found", "forbidden"],
    handle: async ({ caller, params }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const id = fromTypeId("ses", params.id);
      const isEnded = id !== null && (await endOwnSession(people, opened, id, caller));
      return isEnded ? { status: 204 } : notFound("session");
    },
  }),
  route({
    method: "POST",
    path: "/api/me/sessions/end-others",
    operationId: "endOtherSessions",
    tag: TAG,
    summary: "Sign out everywhere else",
    description:
      "All sessions of the person end, but the one of this browser. No other browser counts as known any more.",
    responses: { 204: { description: "The other sessions have ended." } },
    problems: ["forbidden"],
    handle: async ({ caller }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const cookie = await endOtherSessions(people, opened, caller);
      return cookie === null ? notSignedIn : { status: 204, headers: cookieHeaders([cookie]) };
    },
  }),
];
