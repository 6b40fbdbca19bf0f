import { PROBLEMS, type ProblemCode } from "../../platform/wire/problems.ts";
import type { RouteDescription } from "../route-description.ts";
import type { Json } from "./openapi-components.ts";
import { SHARED_PROBLEMS } from "./route.ts";

/** The problems that a route can return. @param ofApi those that every route of its API can return */
function codesOf(route: RouteDescription, ofApi: readonly ProblemCode[]): ReadonlySet<ProblemCode> {
  return new Set([...route.problems, ...SHARED_PROBLEMS, ...ofApi, ...bodyProblems(route)]);
}

/** Even an ignored body is read, and can be too large. Only the body of a GET is not read. */
function bodyProblems({ method, body, upload }: RouteDescription): ProblemCode[] {
  if (body !== undefined || upload !== undefined) return ["payload-too-large", "unsupported-media-type"];
  return method === "GET" ? [] : ["payload-too-large"];
}

/** The problems that an API can return, in the order of the table. */
export function problemCodes(
  routes: readonly RouteDescription[],
  ofApi: readonly ProblemCode[],
): ProblemCode[] {
  const used = new Set(routes.flatMap((route) => [...codesOf(route, ofApi)]));
  return (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => used.has(code)); // The table's own keys.
}

/** Problems by status: codes that share a status share a response. */
export function problemResponses(route: RouteDescription, ofApi: readonly ProblemCode[]): Json {
  const byStatus = Map.groupBy(codesOf(route, ofApi), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join(" "),
        headers: headersOf(PROBLEM_HEADERS[status]),
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}

const RETRY_AFTER = "Seconds to wait before the next attempt.";
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "How to authenticate. Contains `error` if a key was sent." },
  429: {
    "Retry-After": RETRY_AFTER,
    RateLimit: "Requests that are left, and the seconds until the whole allowance is available again.",
    "RateLimit-Policy": "Requests allowed in a window, and its length in seconds.",
  },
  503: { "Retry-After": RETRY_AFTER },
};

/** The header fields of a response, including those of every response. */
export const headersOf = (headers: Readonly<Record<string, string>> = {}): Json =>
  Object.fromEntries(
    Object.entries({ "X-Request-Id": "Identifies the request in the service's logs.", ...headers }).map(
      ([name, description]) => [name, { description, schema: { type: "string" } }],
    ),
  );

/** The schemas of the problem documents with these codes. @param ofFiles whether errors can be in a file */
export const problemSchemas = (
  codes: readonly ProblemCode[],
  errorsBaseUrl: string,
  ofFiles: boolean,
): Record<string, Json> => ({
  Problem: problemSchema(errorsBaseUrl, Object.assign({}, ...codes.map((code) => membersOf(code, ofFiles)))),
  ProblemCode: {
    type: "string",
    enum: codes,
    description: [
      "The kind of a problem. The codes are the same in every deployment, so programs decide by them. More values may be added.",
      ...codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`),
    ].join(" "),
  },
});

function problemSchema(errorsBaseUrl: string, members: Json): Json {
  return {
    type: "object",
    description: "A problem document (RFC 9457). Some problems have further members.",
    required: ["type", "code", "title", "status", "detail", "instance"],
    properties: {
      type: {
        type: "string",
        format: "uri",
        description:
          "Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.",
        examples: [`${errorsBaseUrl}/not-found`],
      },
      code: { $ref: "#/components/schemas/ProblemCode" },
      title: { type: "string", description: "The same text for every problem with this code." },
      status: { type: "integer", description: "The HTTP status of the response." },
      detail: {
        type: "string",
        description: "What is wrong in this case, for people. The text may change; do not parse it.",
      },
      instance: { type: "string", description: "Path of the request, without its query." },
      ...members,
    },
  };
}

/** The members that only some problems have. */
function membersOf(code: ProblemCode, ofFiles: boolean): Json {
  switch (code) {
    case "order-not-cancelable":
      return { orderStatus };
    case "order-already-exists":
      return {
        orderId: text("Of `order-already-exists`: id of the existing order."),
        externalOrderId: text("Of `order-already-exists`: the partner's id of the existing order, as sent."),
      };
    case "transition-refused":
      return {
        transition: text("Of `transition-refused`: the requested transition."),
        orderStatus,
        rule: text(
          "Of `transition-refused`: the rule that forbids the transition, such as `order_on_hold`. More values may be added.",
        ),
      };
    case "limit-reached":
      return {
        limit: limitName,
        maximum: { type: "integer", description: "Of `limit-reached`: the value of the limit." },
      };
    case "validation-failed":
      return { errors: errorsSchema(ofFiles), ...(ofFiles && { errorCount }) };
    case "rate-limited":
      return { limit: limitName };
    default:
      return {};
  }
}

const text = (description: string): Json => ({ type: "string", description });

const limitName = text(
  "Of `limit-reached`: name of the limit, such as `endpoints`. Of `rate-limited`: `waiting-requests` if too many requests of the connection wait. More values may be added.",
);

const orderStatus = text("Status that the order had at the time of the request.");

const errorsSchema = (ofFiles: boolean): Json => ({
  type: "array",
  description: "Of `validation-failed`: every error with its position, at most 500.",
  items: {
    type: "object",
    required: ["detail"],
    properties: {
      pointer: text("Location in the body, as a JSON Pointer (RFC 6901)."),
      parameter: text("Name of the parameter of the path or the query."),
      header: text("Name of the header field, in lower case."),
      ...(ofFiles && FILE_LOCATION),
      detail: text("The rule that the value violates, for people."),
    },
  },
});

const FILE_LOCATION: Json = {
  line: { type: "integer", description: "In a file: the line on which the row begins, counted from 1." },
  column: text("In a file: name of the column, as in the header row."),
};

const errorCount = {
  type: "integer",
  description: "For a file: the number of all errors, of which `errors` contains the first.",
};
