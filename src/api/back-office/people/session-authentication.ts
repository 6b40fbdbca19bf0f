import { authKeys } from "../../../people/auth/auth.ts";
import type { PeopleContext } from "../../../people/context.ts";
import { findSession } from "../../../people/sessions/find-session.ts";
import type { PersonSession } from "../../../people/sessions/session.ts";
import { cookieValue, sessionCookieName } from "../../../people/sessions/session-cookie.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { unauthorized } from "../../http/bearer.ts";
import type { BackOfficeCaller } from "../access.ts";
import type { BackOfficeAuthentication } from "../authentication.ts";
import { expectedPersonIn, isExpectedPerson, personChanged } from "./expected-person.ts";
import { foreignOrigin, isSameOrigin } from "./same-origin.ts";

/**
 * People send the cookie of their session, programs a token, which takes precedence. What a person changes must come from a
 * page of this service.
 */
export function sessionAuthentication(
  context: PeopleContext,
  programs: BackOfficeAuthentication,
): BackOfficeAuthentication {
  const keys = authKeys(context);
  const name = sessionCookieName(keys.isSecure);
  return async (request) => {
    const { headers, method } = request;
    const isPerson = headers.authorization === undefined && cookieValue(headers.cookie, name) !== null;
    if (!isPerson) return programs(request);
    if (method !== "GET" && !isSameOrigin(headers, context.config)) return foreignOrigin;
    const found = await findSession(context, keys, headers.cookie);
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
