import { type Static, Type } from "typebox";
import { endOf, type Session } from "../../../people/sessions/session.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { dateTime, idField, noNextCursor, nullable } from "../../../platform/wire/schemas.ts";

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
  ipAddress: session.ipAddress,
  userAgent: session.userAgent,
  signedInAt: session.signedInAt.toISOString(),
  seenAt: session.seenAt.toISOString(),
  endsAt: endOf(session).toISOString(),
});
