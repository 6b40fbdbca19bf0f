import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { unauthorized } from "../../http/credentials.ts";
import type { PeopleContext, Visitor } from "../../people/person.ts";
import {
  findSession,
  hasSessionCookie,
  isRecent,
  notSignedIn,
  type Own,
  type PersonSession,
  recentAuthenticationRequired,
  type Session,
} from "../../people/sessions.ts";
import type { Config } from "../../platform/config.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { Clock } from "../../platform/time.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import type { BackOfficeCaller } from "../access.ts";
import type { BackOfficeAuthentication } from "../authentication.ts";

/**
 * People send the cookie of their session, programs a token, which takes precedence. What a person changes must come from a
 * page of this service.
 */
export function sessionAuthentication(
  context: PeopleContext,
  programs: BackOfficeAuthentication,
): BackOfficeAuthentication {
  return async (request) => {
    const { headers, method } = request;
    const isPerson = headers.authorization === undefined && hasSessionCookie(context, headers.cookie);
    if (!isPerson) return programs(request);
    if (method !== "GET" && !isSameOrigin(headers, context.config)) return foreignOrigin;
    const found = await findSession(context, headers.cookie);
    if (found === null) return { ...unauthorized(headers), detail: "Sign in: the session has ended." };
    return isExpectedPerson(found, expectedPersonIn(headers)) ? personOf(found) : personChanged;
  };
}

const personOf = ({ person, session }: PersonSession): BackOfficeCaller => ({
  type: "person",
  id: toTypeId("per", person.id),
  name: person.name,
  grants: person.grants,
  session: { id: session.id, authenticatedAt: session.authenticatedAt, email: person.email },
});

type Sent = Pick<IncomingHttpHeaders, "origin" | "host" | "cookie"> & {
  readonly "sec-fetch-site"?: string | string[] | undefined;
};

/**
 * Whether a request that changes something comes from a page of this service (docs/design/people.md, "Cookies and origin"). Browsers name the origin of a
 * page with every POST, and a page cannot change it. It is compared with the host that the browser has sent the request to,
 * and with the configured address, for a proxy that sends another host.
 */
export function isSameOrigin(headers: Sent, { backOfficeUrl }: Pick<Config, "backOfficeUrl">): boolean {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (origin !== undefined)
    return (
      origin === new URL(backOfficeUrl).origin || (URL.canParse(origin) && new URL(origin).host === host)
    );
  if (site !== undefined) return site === "same-origin";
  // A program without cookies has nothing that a foreign page could use.
  return headers.cookie === undefined;
}

export const foreignOrigin: Problem = {
  code: "forbidden",
  detail:
    "The request carries cookies, and does not come from a page of this service. A program must send a token instead of cookies, and a proxy must keep the Host header, or BACK_OFFICE_URL must be the address that people use.",
};

/** The problem of a person who must prove again who it is. Null: it has, or the caller is a program. */
export const notRecent = (
  { session }: { readonly session?: Pick<Session, "authenticatedAt"> },
  clock: Clock,
): Problem | null =>
  session === undefined || isRecent(session, clock.now()) ? null : recentAuthenticationRequired;

/** People who look at and change how they themselves sign in: the session of the browser, which is that of the person whom the page shows. */
export const ownAuthentication =
  (people: PeopleContext, visitorOf: (request: FastifyRequest) => Visitor | Problem) =>
  async (request: FastifyRequest): Promise<Own | Problem> => {
    const visitor = visitorOf(request);
    if (isProblem(visitor)) return visitor;
    const found = await findSession(people, visitor.cookie);
    if (found === null) return notSignedIn;
    return isExpectedPerson(found, visitor.expectedPersonId) ? { ...visitor, ...found } : personChanged;
  };

/** The person that a page shows as signed in (docs/design/people.md, "The person of a page"). Null: the request names none. */
export const expectedPersonIn = (headers: IncomingHttpHeaders): string | null => {
  const sent = headers["x-person-id"];
  return typeof sent === "string" ? sent : null;
};

/** All tabs of a browser share one session. A sign-in in one of them replaces the person of the others. */
const isExpectedPerson = ({ person }: PersonSession, expected: string | null): boolean =>
  expected === null || expected === toTypeId("per", person.id);

const personChanged: Problem = {
  code: "person-changed",
  detail: "Another person has signed in on this browser. Load the page again.",
};
