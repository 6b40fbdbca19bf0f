import { type Static, Type } from "typebox";
import type { Route } from "../../http/route.ts";
import type { People } from "../../people/person.ts";
import { endOf, endOtherSessions, endSession, listSessions, type Session } from "../../people/sessions.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { notFound } from "../../platform/wire/problems.ts";
import { dateTime, idField, noNextCursor, nullable } from "../../platform/wire/schemas.ts";
import { ownRoute } from "./sign-in-wire.ts";

const SessionSchema = Type.Object(
  {
    id: idField("ses", "Id of the session, set by the service. It is not its cookie."),
    isCurrent: Type.Boolean({ description: "Whether it is the session of this request." }),
    ipAddress: nullable(Type.String(), "Where the person signed in from. Null if it is not known."),
    userAgent: nullable(Type.String(), "The browser, as it names itself. Null if it does not."),
    signedInAt: dateTime("When the person signed in."),
    seenAt: dateTime("When the session was used. A use within five minutes after this is not recorded."),
    endsAt: dateTime("When the session ends if it is not used again."),
  },
  { title: "Session", description: "A sign-in of a person on one browser." },
);

export const SessionListSchema = Type.Object(
  {
    data: Type.Array(SessionSchema, { description: "The sessions, the one that was used last first." }),
    nextCursor: noNextCursor,
  },
  { title: "SessionList", description: "The sessions of a person." },
);

export const toWireSessions = (sessions: readonly Session[], currentId: string | null) => ({
  data: sessions.map((session) => toWireSession(session, currentId)),
  nextCursor: null,
});

const toWireSession = (session: Session, currentId: string | null): Static<typeof SessionSchema> => ({
  id: toTypeId("ses", session.id),
  isCurrent: session.id === currentId,
  ipAddress: session.ipAddress || null,
  userAgent: session.userAgent || null,
  signedInAt: session.signedInAt.toISOString(),
  seenAt: session.seenAt.toISOString(),
  endsAt: endOf(session).toISOString(),
});

const TAG = "Own account";

/** People see and end their own sessions. */
export const sessionRoutes: readonly Route<People>[] = [
  ownRoute({
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
      const sessions = await listSessions(people.db, caller.person.id);
      return { status: 200, body: toWireSessions(sessions, caller.session.id) };
    },
  }),
  ownRoute({
    method: "DELETE",
    path: "/api/me/sessions/{id}",
    operationId: "endOwnSession",
    tag: TAG,
    summary: "End one of your sessions",
    params: Type.Object({ id: Type.String({ description: "Id of the session." }) }),
    responses: { 204: { description: "The next request of the session is rejected." } },
    problems: ["not-found", "forbidden"],
    handle: async ({ caller, params }, people) => {
      const id = fromTypeId("ses", params.id);
      const isEnded = id !== null && (await endSession(people, caller, id, "endSession"));
      return isEnded ? { status: 204 } : notFound("session");
    },
  }),
  ownRoute({
    method: "POST",
    path: "/api/me/sessions/end-others",
    operationId: "endOtherSessions",
    tag: TAG,
    summary: "Sign out everywhere else",
    description: "All sessions of the person end, but the one of this browser.",
    responses: { 204: { description: "The other sessions have ended." } },
    problems: ["forbidden"],
    handle: async ({ caller }, people) => (await endOtherSessions(people, caller)) ?? { status: 204 },
  }),
];
