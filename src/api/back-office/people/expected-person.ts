import type { IncomingHttpHeaders } from "node:http";
import type { PersonSession } from "../../../people/sessions/session.ts";
import { toTypeId } from "../../../platform/ids.ts";
import type { Problem } from "../../../platform/wire/problems.ts";

/** The person that a page shows as signed in (decision 0221). Null: the request names none. */
export const expectedPersonIn = (headers: IncomingHttpHeaders): string | null => {
  const sent = headers["x-person-id"];
  return typeof sent === "string" ? sent : null;
};

/** All tabs of a browser share one session. A sign-in in one of them replaces the person of the others. */
export const isExpectedPerson = ({ person }: PersonSession, expected: string | null): boolean =>
  expected === null || expected === toTypeId("per", person.id);

export const personChanged: Problem = {
  code: "person-changed",
  detail: "Another person has signed in on this browser. Load the page again.",
};
