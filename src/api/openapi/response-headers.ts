import type { Json } from "./components.ts";

/** The header fields of a response, including those of every response. */
export const headersOf = (headers: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(
    Object.entries({ "X-Request-Id": "Identifies the request in the service's logs.", ...headers }).map(
      ([name, description]) => [name, { description, schema: { type: "string" } }],
    ),
  );

const RETRY_AFTER = "Seconds to wait before the next attempt.";
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "How to authenticate. Contains `error` if a key was sent." },
  429: { "Retry-After": RETRY_AFTER },
  503: { "Retry-After": RETRY_AFTER },
};

/** The header fields of a problem. @param known those of responses to a caller who is known, which 401 never is */
export const problemHeaders = (known: Readonly<Record<string, string>>, status: number): Json =>
  headersOf({ ...(status !== 401 && known), ...PROBLEM_HEADERS[status] });
