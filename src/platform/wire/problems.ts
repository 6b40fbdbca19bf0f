import { counted, sentenceOf, type Violation } from "./rules.ts";

/**
 * All problems that the service returns (RFC 9457). `docs/problems.md` and `docs/errors` document them, and the back office
 * serves a page for each at `/errors/<code>`. Specification, part 7; docs/design/api-conventions.md, "Routes first, then keys".
 */
export const PROBLEMS = {
  "malformed-request": {
    status: 400,
    title: "Malformed request",
    meaning: "The request is not valid HTTP, or its body is not valid JSON.",
    retry: "After correcting the request.",
  },
  "idempotency-key-missing": {
    status: 400,
    title: "Idempotency key missing",
    meaning: "A creation had neither an Idempotency-Key header nor an externalOrderId.",
    retry: "With one of the two.",
  },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    meaning: "The request has no key, or the key is unknown, revoked or expired.",
    retry: "With a valid key.",
  },
  "sign-in-failed": {
    status: 401,
    title: "Sign-in failed",
    meaning:
      "The password, the code, the passkey or the link is not valid, or no longer; reason says which. It never says whether a person has the address.",
    retry: "With the right one. If you have forgotten your password, request a link by mail.",
  },
  "recent-authentication-required": {
    status: 403,
    title: "Recent authentication required",
    meaning:
      "What concerns keys, secrets and money needs a person who has proved within 15 minutes who it is. Programs with a token never get this.",
    retry: "After the person has confirmed with a password, a code or a passkey.",
  },
  forbidden: {
    status: 403,
    title: "Forbidden",
    meaning: "The caller is authenticated, but its role, or its test key, does not allow this operation.",
    retry: "Do not retry. A caller with another role, or a live key, must do it.",
  },
  "scope-required": {
    status: 403,
    title: "Scope required",
    meaning:
      "The role of the token allows the operation, but its scopes do not; scope is the one that is missing. Only the back office returns this.",
    retry: "Do not retry with this token. Use one that has the scope.",
  },
  "token-expires": {
    status: 403,
    title: "Token expires",
    meaning:
      "The token expires, and the roles of people do not, so it gives none; replacedBy names the token that replaced it. Only the back office returns this.",
    retry:
      "Do not retry with this token. Use the one that replaced it, or one without an expiry, or let a person do it.",
  },
  "not-found": {
    status: 404,
    title: "Resource not found",
    meaning:
      "No route matches the method and path, or the resource does not exist on the connection, or a test order has expired.",
    retry: "Do not retry.",
  },
  "order-not-cancelable": {
    status: 409,
    title: "Order cannot be canceled",
    meaning:
      "The order exists, but its cancel window has closed or never existed; orderStatus is its status.",
    retry: "Do not retry; the response does not change.",
  },
  "order-already-exists": {
    status: 409,
    title: "Order already exists",
    meaning: "Another order of the connection has this externalOrderId; orderId and externalOrderId name it.",
    retry:
      "Do not retry; read the existing order. With a test key, use another externalOrderId if orderId is null.",
  },
  "transition-refused": {
    status: 409,
    title: "Transition not allowed",
    meaning:
      "The state of the order does not allow the transition; transition, orderStatus and rule give the reason.",
    retry: "After the state of the order has changed.",
  },
  "endpoint-paused": {
    status: 409,
    title: "Webhook endpoint is paused",
    meaning: "Nothing is sent to a paused webhook endpoint, not even by request.",
    retry: "After resuming the endpoint.",
  },
  "certification-not-possible": {
    status: 409,
    title: "Certification not possible",
    meaning:
      "No certification can begin now; reason says why: running (certificationId names the open run of the connection), no-product, or event-types.",
    retry: "After the open run has ended, or after correcting what detail names.",
  },
  "certification-required": {
    status: 409,
    title: "Certification required",
    meaning:
      "The connection requires a certification that has passed and is not too old before it gets a live key; certifiedAt is the last one that passed, and certificationMaxAgeDays how old it may be. Only the back office returns this.",
    retry:
      "After the partner has passed a certification, or after the merchant has changed certificationMaxAgeDays.",
  },
  "stock-changed": {
    status: 409,
    title: "Stock has changed",
    meaning:
      "The stock of a product was to be set on the condition that a certain quantity is on hand, but another one is; onHand is its value.",
    retry: "After counting again, or with the difference.",
  },
  "version-changed": {
    status: 409,
    title: "Changed since it was read",
    meaning:
      "What the request replaces has changed since the caller read it: expectedVersion is not the version that is stored; version is.",
    retry: "After reading again, with the change made to what is stored now.",
  },
  "limit-reached": {
    status: 409,
    title: "Limit reached",
    meaning:
      "The connection has stored as much of something as it may; limit is the name of the limit and maximum its value.",
    retry: "After deleting something, or when the limit allows it again, as detail says.",
  },
  "person-exists": {
    status: 409,
    title: "Person already exists",
    meaning: "Another person has this mail address.",
    retry: "Do not retry. Change the grants of that person, or ask the operator to do it.",
  },
  "person-state": {
    status: 409,
    title: "Person does not allow this",
    meaning:
      "The person is disabled, has accepted its invitation, or is the last operator; state says which: disabled, active or last-operator.",
    retry: "After the state of the person has changed.",
  },
  "person-changed": {
    status: 409,
    title: "Another person is signed in",
    meaning:
      "Another person has signed in on this browser: the session is not that of the person in X-Person-Id. Nothing was read or changed.",
    retry: "Do not retry. Load the page again, which then shows what the other person may see.",
  },
  "token-not-rotatable": {
    status: 409,
    title: "Token cannot be rotated",
    meaning:
      "The token is revoked, has expired or was already rotated; reason says which, and replacedBy names the token that replaced it.",
    retry: "Do not retry. Rotate the token that replaced it, or create a new one.",
  },
  "key-not-rotatable": {
    status: 409,
    title: "Key cannot be rotated",
    meaning:
      "The key of a connection is revoked, has expired or was already rotated; reason says which, and replacedBy names the key that replaced it.",
    retry: "Do not retry. Rotate the key that replaced it, or issue a new one.",
  },
  "payload-too-large": {
    status: 413,
    title: "Request body too large",
    meaning: "The body exceeds the limit of the route, which is 256 KiB unless documented otherwise.",
    retry: "With a smaller body.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    meaning:
      "The Content-Type is not application/json, or not the one that the route requires, or the body has a Content-Encoding.",
    retry: "With the Content-Type that detail names, and without Content-Encoding.",
  },
  "validation-failed": {
    status: 422,
    title: "Validation failed",
    meaning: "The request can be read, but some of its values are invalid; errors lists each of them.",
    retry: "After correcting every error.",
  },
  "idempotency-key-reused": {
    status: 422,
    title: "Idempotency key reused",
    meaning:
      "The idempotency key was already used for a different request; orderId names its order, and differences the members that differ.",
    retry: "With a new key, or with the first request unchanged.",
  },
  "rate-limited": {
    status: 429,
    title: "Too many requests",
    meaning:
      "The caller or its merchant has exceeded a rate limit, too many of its requests wait, or there were too many attempts to sign in.",
    retry: "After the number of seconds in Retry-After.",
  },
  "internal-error": {
    status: 500,
    title: "Internal error",
    meaning: "The service failed unexpectedly; the operator can find the request by its x-request-id.",
    retry: "After a pause. Check first whether a change was made, unless the request can be repeated.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    meaning: "The service cannot reach its database, or is stopping.",
    retry:
      "After the number of seconds in Retry-After. Check first whether a change was made, unless the request can be repeated.",
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string; retry: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/**
 * The reasons of `sign-in-failed`, with their sentences. What the caller sent determines the reason of a sign-in, so an
 * account that does not exist, or is disabled, gets the same one as a wrong password.
 */
export const SIGN_IN_FAILURES = {
  "wrong-credentials":
    "Mail address or password is not right. If you have no password, request a link by mail.",
  "wrong-password": "The password is not right. It is required for a person who has one.",
  "wrong-code": "The code is not right. Try the next one, and compare the clock of the device.",
  "unknown-passkey": "The passkey is not known, or the request for it is older than five minutes.",
  "invalid-passkey": "The passkey does not fit the request for it, or that is older than five minutes.",
  "invalid-link": "The link is not valid: it was used, has expired or was replaced.",
  "codes-set-up": "One-time codes are set up already. Remove them first.",
} as const;
export type SignInFailure = keyof typeof SIGN_IN_FAILURES;

/** An error as a value. `detail` is for the caller and never contains anything internal. */
export type Problem = {
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly code: "validation-failed"; readonly members: InvalidMembers }
  | {
      readonly code: Exclude<ProblemCode, "validation-failed">;
      /** Further members of the problem document, such as `orderStatus`. */
      readonly members?: Readonly<Record<string, unknown>>;
    }
);

type InvalidMembers = {
  readonly errors: readonly (ValidationError & { readonly detail: string })[];
  /** Of a file: the number of all errors, of which `errors` has the first. */
  readonly errorCount?: number;
};

/** One error in a request: its position, and the rule that it violates with its parameters. */
export type ValidationError = (
  | { readonly pointer: string }
  | { readonly parameter: string }
  | { readonly header: string }
  /**
   * In a file: the line on which the row begins, the column and the value if the error is about one, and what the row is about,
   * as the file names it.
   */
  | { readonly line: number; readonly column?: string; readonly value?: string; readonly subject?: string }
) &
  Violation;

export const isProblem = (value: object): value is Problem => "code" in value && "detail" in value;

/** How long clients should wait when the service is not available, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = "5";

/** Also for a resource of another connection: the response is exactly that of a missing one. */
export const notFound = (
  what:
    | "order"
    | "test order"
    | "product"
    | "connection"
    | "merchant"
    | "charge"
    | "Stripe method"
    | "bank account"
    | "currency"
    | "key"
    | "token"
    | "view"
    | "webhook endpoint"
    | "event"
    | "delivery"
    | "shipment"
    | "facility"
    | "stock record"
    | "identity provider"
    | "passkey"
    | "person"
    | "session"
    | "pick list"
    | "resend"
    | "certification"
    | "audit entry",
): Problem => ({
  code: "not-found",
  detail: `No such ${what}.`,
});

export const noRoute = (method: string, path: string): Problem => ({
  code: "not-found",
  detail: `No route matches ${method} ${path}.`,
});

export const validationFailed = (errors: readonly ValidationError[]): Problem => ({
  code: "validation-failed",
  detail: `The request has ${counted(errors.length, "error")}; see errors.`,
  members: { errors: describedErrors(errors) },
});

/** Errors as a problem lists them: each with the sentence that follows from its rule. */
export const describedErrors = <Each extends ValidationError>(
  errors: readonly Each[],
): (Each & { readonly detail: string })[] => errors.map((error) => ({ ...error, detail: sentenceOf(error) }));

export const forbidden: Problem = {
  code: "forbidden",
  detail: "Your role does not allow this operation.",
};

export const malformed = (detail: string): Problem => ({ code: "malformed-request", detail });

/** The transaction may have been committed although its response was lost. Not every request has an idempotency key. */
const UNKNOWN_OUTCOME =
  "A request that changes something may have done so: check before you retry one that is not safe to repeat.";

export const internalError: Problem = {
  code: "internal-error",
  detail: `The request failed. ${UNKNOWN_OUTCOME}`,
};

export const unavailable: Problem = {
  code: "unavailable",
  detail: `The service is temporarily unavailable. ${UNKNOWN_OUTCOME}`,
  headers: { "retry-after": UNAVAILABLE_RETRY_SECONDS },
};

/** The problem document of an error. `instance` is the path of the request, without its query. */
export function problemDocument(
  problem: Problem,
  errorsBaseUrl: string,
  instance: string,
): Record<string, unknown> {
  const { status, title } = PROBLEMS[problem.code];
  return {
    type: `${errorsBaseUrl}/${problem.code}`,
    code: problem.code,
    title,
    status,
    detail: problem.detail,
    instance,
    ...problem.members,
  };
}

/** The path of a request target, without the query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
};

/** A problem as an error, for code that can only throw, such as a stream or a parser. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** A caller who may have to prove again who it is. */
export type Unproved = {
  /** The problem of a person whose authentication is not recent. Absent or null: it is, or the caller is a program. */
  readonly notRecent?: Problem | null;
};

/**
 * Call it where money, a secret or an address of an endpoint is about to change, in the transaction that changes it. So each
 * way there asks for the proof, whatever the request is called (docs/design/people.md, "Recent authentication").
 */
export function requireRecentAuthentication({ notRecent = null }: Unproved): void {
  if (notRecent !== null) throw new ProblemError(notRecent);
}

/** PostgreSQL text cannot contain NUL, nor UTF-8 an unpaired surrogate. Such text could not be returned unchanged. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");
