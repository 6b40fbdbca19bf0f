import type { Json } from "./components.ts";

/** The header fields of a response, including those of every response. */
export const headersOf = (headers: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(
    Object.entries({ "X-Request-Id": "Identifies the request in the service's logs.", ...headers }).map(
      ([name, description]) => [name, { description, schema: { type: "string" } }],
    ),
  );

const UNAUTHORIZED: Readonly<Record<string, string>> = {
  "WWW-Authenticate": "How to authenticate. Contains `error` if a key was sent.",
};
const NOT_SIGNED_IN: Readonly<Record<string, string>> = {
  "WWW-Authenticate": "Always `Session`: only a session of the console helps, no token.",
};

const RETRY_AFTER = "Seconds to wait before the next attempt.";
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  429: { "Retry-After": RETRY_AFTER },
  503: { "Retry-After": RETRY_AFTER },
};

/** The header fields of responses: to a caller who is known, and beside the challenge of 401 to one who is not. */
export type CallerHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  readonly rejectedHeaders: Readonly<Record<string, string>>;
};

/** The header fields of a problem. @param isOpen whether the route reads a session itself, and takes no token */
export function problemHeaders(
  { headers, rejectedHeaders }: CallerHeaders,
  isOpen: boolean,
  status: number,
): Json {
  if (status !== 401) return headersOf({ ...headers, ...PROBLEM_HEADERS[status] });
  return headersOf(isOpen ? NOT_SIGNED_IN : { ...UNAUTHORIZED, ...rejectedHeaders });
}
