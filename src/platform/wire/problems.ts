/**
 * Every problem the service answers (RFC 9457): the one table of codes. `docs/problems.md` tells the same to
 * readers, and the back office serves a page for each under `/errors/<code>`. Specification, part 7; decision 0017.
 */
export const PROBLEMS = {
  "malformed-request": {
    status: 400,
    title: "Request cannot be read",
    meaning: "The request is not valid HTTP, or its body is not the JSON it should be.",
    retry: "Not before the request is mended.",
  },
  "idempotency-key-missing": {
    status: 400,
    title: "Idempotency key missing",
    meaning: "An order was sent with neither an Idempotency-Key header nor an externalOrderId.",
    retry: "With one of the two.",
  },
  unauthorized: {
    status: 401,
    title: "Valid key required",
    meaning: "The request carries no key, or one that is unknown, revoked or expired.",
    retry: "With a valid key.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    meaning: "The caller is known, but people of this kind may not do this.",
    retry: "Do not retry; ask somebody who may.",
  },
  "not-found": {
    status: 404,
    title: "Resource not found",
    meaning:
      "No route matches the method and path, or the thing named is not on the connection, or a test order's time is over.",
    retry: "Do not retry.",
  },
  "order-not-cancelable": {
    status: 409,
    title: "Order cannot be canceled",
    meaning:
      "The order exists, but its cancel window has closed or never existed; orderStatus tells its status.",
    retry: "Do not retry; the answer does not change.",
  },
  "order-already-exists": {
    status: 409,
    title: "Order already exists",
    meaning: "Another order of the connection has this externalOrderId; orderId and externalOrderId name it.",
    retry: "Do not retry; read the existing order.",
  },
  "transition-refused": {
    status: 409,
    title: "Transition refused",
    meaning: "The order's state forbids the transition; transition, orderStatus and rule tell why.",
    retry: "After the order's state has changed.",
  },
  "endpoint-paused": {
    status: 409,
    title: "Webhook endpoint is paused",
    meaning: "Nothing is sent to a paused webhook endpoint, not even by hand.",
    retry: "After the endpoint was resumed.",
  },
  "endpoint-limit-reached": {
    status: 409,
    title: "Too many webhook endpoints",
    meaning: "The connection has as many webhook endpoints as it may have.",
    retry: "After an endpoint was deleted.",
  },
  "payload-too-large": {
    status: 413,
    title: "Request body too large",
    meaning: "The body is larger than the route takes: 256 KiB where it does not say otherwise.",
    retry: "With a smaller body.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Media type not supported",
    meaning: "The body is not declared as application/json, or as what else the route asks for.",
    retry: "With the Content-Type that detail names.",
  },
  "validation-failed": {
    status: 422,
    title: "Request does not fit",
    meaning:
      "The request can be read, but something in it does not fit; errors lists every fault and its place.",
    retry: "Not before the faults are mended.",
  },
  "idempotency-key-reused": {
    status: 422,
    title: "Idempotency key reused",
    meaning: "The idempotency key belongs to an earlier, different request.",
    retry: "With a new key, or with the first request unchanged.",
  },
  "rate-limited": {
    status: 429,
    title: "Too many requests",
    meaning: "The connection has used up its requests for now.",
    retry: "After the seconds in Retry-After.",
  },
  "internal-error": {
    status: 500,
    title: "Internal error",
    meaning:
      "The service failed in a way it should not; the operator can find the request by its x-request-id.",
    retry: "Yes; with the same idempotency key nothing is done twice.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    meaning: "The service cannot reach its database, or is stopping.",
    retry: "After the seconds in Retry-After; with the same idempotency key nothing is done twice.",
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string; retry: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** A refusal, as a value. `detail` is for the partner and never holds anything internal. */
export type Problem = {
  readonly problem: ProblemCode;
  readonly detail: string;
  /** Further members of the problem document, such as `orderStatus`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** One fault of a request: where it is, and what is wrong with it. */
export type Fault = (
  | { pointer: string }
  | { parameter: string }
  | { header: string }
  /** Of a file: the line on which its row begins, and the column if it is about one. */
  | { line: number; column?: string }
) & { detail: string };

export const isProblem = (value: object): value is Problem => "problem" in value;

/** How long clients are asked to wait when the service cannot answer, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = "5";

/** Also for things of other connections: a foreign thing and a missing one give the same answer. */
export const notFound = (
  what:
    | "order"
    | "test order"
    | "product"
    | "connection"
    | "merchant"
    | "Stripe method"
    | "key"
    | "webhook endpoint"
    | "event"
    | "delivery"
    | "shipment"
    | "facility"
    | "stock record",
): Problem => ({
  problem: "not-found",
  detail: `No such ${what}.`,
});

export const noRoute = (method: string, path: string): Problem => ({
  problem: "not-found",
  detail: `No route matches ${method} ${path}.`,
});

export const validationFailed = (errors: readonly Fault[]): Problem => ({
  problem: "validation-failed",
  detail:
    errors.length === 1
      ? "The request has a fault; see errors."
      : `The request has ${errors.length} faults; see errors.`,
  members: { errors },
});

export const forbidden: Problem = {
  problem: "forbidden",
  detail: "You may not do this; it is for people with another role.",
};

export const malformed = (detail: string): Problem => ({ problem: "malformed-request", detail });

export const internalError: Problem = {
  problem: "internal-error",
  detail: "The request failed; it is safe to retry.",
};

export const unavailable: Problem = {
  problem: "unavailable",
  detail: "The service cannot do this right now; it is safe to retry.",
  headers: { "retry-after": UNAVAILABLE_RETRY_SECONDS },
};

/** The problem document of a refusal. `instance` is the path of the request, without its query. */
export function problemDocument(
  problem: Problem,
  errorsBaseUrl: string,
  instance: string,
): Record<string, unknown> {
  const { status, title } = PROBLEMS[problem.problem];
  return {
    type: `${errorsBaseUrl}/${problem.problem}`,
    title,
    status,
    detail: problem.detail,
    instance,
    ...problem.members,
  };
}

/** The path of a request target: what stands before the query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
};
