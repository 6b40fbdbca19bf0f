import { type TSchema, Type } from "typebox";
import { END_REASONS } from "../../merchants/api-key.ts";
import { OrderStatusSchema } from "../../orders/order-wire.ts";
import type { RowError } from "../../platform/tables/read-table.ts";
import { PROBLEMS, type ProblemCode, SIGN_IN_FAILURES } from "../../platform/wire/problems.ts";
import { RULE_PARAMETERS, RULES, SHARED_PARAMETERS, SHARED_RULES } from "../../platform/wire/rules.ts";
import {
  described,
  describedAs,
  enumeration,
  nullable,
  openEnumeration,
} from "../../platform/wire/schemas.ts";
import { type RouteDescription, SHARED_PROBLEMS } from "../route.ts";
import type { Json, NameResponse, NameSchema } from "./components.ts";

/** What problem documents contain that differs from one API to the other. */
export type DescribedProblems = {
  /** Problems that every route of this API can return, in addition to `SHARED_PROBLEMS`. */
  readonly codes: readonly ProblemCode[];
  /** Of `transition-refused`: the requested transition, and the rule that forbids it. */
  readonly transition: TSchema;
  readonly rule: TSchema;
  /** Of `transition-refused`: members of single rules. */
  readonly refusedBy?: Readonly<Record<string, TSchema>>;
  /** Of `limit-reached`: what counts, by the name of the limit. */
  readonly limits: Readonly<Record<string, string>>;
  /** True if errors can be in a file. */
  readonly ofFiles: boolean;
};

/** The problems that a route can return. @param ofApi those that every route of its API can return */
function codesOf(route: RouteDescription, ofApi: readonly ProblemCode[]): ProblemCode[] {
  const codes = new Set([...route.problems, ...SHARED_PROBLEMS, ...ofApi, ...bodyProblems(route)]);
  if (route.isOpen === "to-all") codes.delete("unauthorized");
  return inOrder(codes);
}

/** In the order of the table, so that responses with the same codes are the same. */
const inOrder = (codes: ReadonlySet<ProblemCode>): ProblemCode[] =>
  (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => codes.has(code)); // The table's own keys.

/** Even an ignored body is read, and can be too large. Only the body of a GET is not read. */
function bodyProblems({ method, body, upload }: RouteDescription): ProblemCode[] {
  if (body !== undefined || upload !== undefined) return ["payload-too-large", "unsupported-media-type"];
  return method === "GET" ? [] : ["payload-too-large"];
}

/** The problems that an API can return. */
export function problemCodes(
  routes: readonly RouteDescription[],
  ofApi: readonly ProblemCode[],
): ProblemCode[] {
  return inOrder(new Set(routes.flatMap((route) => codesOf(route, ofApi))));
}

/** Problems by status: codes that share a status share a response, with an example of each. */
export function problemResponses(
  route: RouteDescription,
  ofApi: readonly ProblemCode[],
  headersOf: (status: number, codes: readonly ProblemCode[]) => Json,
  nameResponse: NameResponse,
): Json {
  const byStatus = Map.groupBy(codesOf(route, ofApi), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      nameResponse(group.map(wordsOf).join("Or"), {
        description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join(" "),
        headers: headersOf(status, group),
        content: {
          "application/problem+json": {
            schema: { $ref: "#/components/schemas/Problem" },
            examples: Object.fromEntries(
              group.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      }),
    ]),
  );
}

/** Names the problem documents with these codes, and their union. Returns the schema of each. */
export function nameProblems(
  codes: readonly ProblemCode[],
  api: DescribedProblems,
  name: NameSchema,
): ReadonlyMap<ProblemCode, TSchema> {
  const schemas = new Map(codes.map((code) => [code, problemSchema(code, api)]));
  const branches = [...schemas].map(([code, schema]) => ({ code, schema: name(schema) }));
  name(
    Type.Unsafe({
      title: "Problem",
      description:
        "A problem document (RFC 9457). Programs decide by `code`. More codes may be added: handle an unknown one by its `status`.",
      oneOf: branches.map(({ schema }) => schema),
      discriminator: {
        propertyName: "code",
        mapping: Object.fromEntries(branches.map(({ code, schema }) => [code, schema["$ref"]])),
      },
    }),
  );
  return schemas;
}

/** `order-already-exists` becomes `OrderAlreadyExists`. */
const wordsOf = (code: ProblemCode): string =>
  code.replace(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const titleOf = (code: ProblemCode): string => `${wordsOf(code)}Problem`;

function problemSchema(code: ProblemCode, api: DescribedProblems): TSchema {
  const { meaning, title, status } = PROBLEMS[code];
  const { required, optional = {} } = membersOf(code, api);
  return Type.Object(
    {
      type: Type.String({
        format: "uri",
        description:
          "Address of a page about this kind of problem. Its last segment is `code`; the rest depends on the deployment.",
      }),
      code: Type.Literal(code, {
        description: `Always \`${code}\`. It is the same in every deployment.`,
      }),
      title: Type.String({
        description: "The same text for every problem with this code.",
        examples: [title],
      }),
      status: Type.Integer({ description: "The HTTP status of the response.", examples: [status] }),
      detail: Type.String({
        description: "What is wrong in this case, for people. The text may change; do not parse it.",
      }),
      instance: Type.String({ description: "Path of the request, without its query." }),
      ...required,
      ...Object.fromEntries(Object.entries(optional).map(([key, schema]) => [key, Type.Optional(schema)])),
    },
    { title: titleOf(code), description: `\`${code}\`: ${meaning}` },
  );
}

type Members = {
  readonly required: Readonly<Record<string, TSchema>>;
  readonly optional?: Readonly<Record<string, TSchema>>;
};

/** The members that only some problems have. */
function membersOf(
  code: ProblemCode,
  { transition, rule, refusedBy, limits, ofFiles }: DescribedProblems,
): Members {
  switch (code) {
    case "order-not-cancelable":
      return { required: { orderStatus } };
    case "order-already-exists":
      return {
        required: {
          orderId: nullable(
            Type.String(),
            "Id of the existing order. Null if that is a real order and the key is a test key.",
          ),
          externalOrderId: Type.String({ description: "The partner's id of the existing order, as sent." }),
        },
      };
    case "idempotency-key-reused":
      return {
        required: {
          orderId: nullable(
            Type.String(),
            "Id of the order that the first request has created. Null if that is a real order and the key is a test key.",
          ),
          differences: Type.Array(Type.String(), {
            description:
              "JSON Pointers (RFC 6901) to the members in which this request differs from the first one. `/shippingAddress` alone if the address was corrected since; of an order whose personal data was erased, only what is left of it is compared. So the list can be empty.",
            examples: [["/lines/0/quantity", "/note"]],
          }),
        },
      };
    case "scope-required":
      return {
        required: { scope: Type.String({ description: "The scope that the request needs." }) },
      };
    case "token-expires":
      return {
        required: {
          replacedBy: nullable(
            Type.String(),
            "Id of the token that replaced it. Null if it was not rotated.",
          ),
        },
      };
    case "transition-refused":
      return {
        required: { transition, orderStatus, rule },
        optional: {
          maximum: Type.Integer({ description: "Of a rule about a number: the highest one." }),
          ...refusedBy,
        },
      };
    case "sign-in-failed":
      return { required: { reason: SignInFailureSchema } };
    case "limit-reached":
      return { required: { limit: limitName(limits), maximum: Type.Integer({ description: "Its value." }) } };
    case "token-not-rotatable":
      return { required: { reason, replacedBy } };
    case "key-not-rotatable":
      return { required: { reason: keyReason, replacedBy: replacedByKey } };
    case "certification-not-possible":
      return {
        required: { reason: CertificationRefusalSchema, certificationId: openCertificationId },
      };
    case "certification-required":
      return {
        required: {
          certificationMaxAgeDays: Type.Integer({
            description: "How old a passed certification may be, in days.",
          }),
          certifiedAt: nullable(
            Type.String({ format: "date-time" }),
            "When the connection last passed a certification. Null if it never did.",
          ),
        },
      };
    case "stock-changed":
      return { required: { onHand: Type.Integer({ description: "Units that are on hand." }) } };
    case "version-changed":
      return { required: { version: Type.String({ description: "Version of what is stored." }) } };
    case "person-state":
      return { required: { state: PersonRefusalSchema } };
    case "payload-too-large":
      return {
        required: { maxBytes: Type.Integer({ description: "The most bytes that the body can have." }) },
      };
    case "validation-failed":
      return {
        required: { errors: errorsSchema(ofFiles) },
        ...(ofFiles && { optional: { errorCount } }),
      };
    case "rate-limited":
      return { required: {}, optional: { limit: WaitingLimitSchema } };
    default:
      return { required: {} };
  }
}

const CertificationRefusalSchema = enumeration(
  "CertificationRefusal",
  ["running", "no-product", "event-types"],
  "`running`: a certification of the connection is open. `no-product`: the connection has no product that can be ordered. `event-types`: the endpoint does not receive the events of a certification.",
);
const openCertificationId = nullable(
  Type.String({ examples: ["crt_01m7y7np16fe68bxp4h91tdmdn"] }),
  "The open certification. Null for other reasons.",
);

const orderStatus = describedAs(OrderStatusSchema, "Status that the order had at the time of the request.");

const limitName = (limits: Readonly<Record<string, string>>): TSchema =>
  openEnumeration(
    "LimitName",
    Object.keys(limits),
    `Name of the limit that is reached. More values may be added. ${described(limits)}`,
  );

const SignInFailureSchema = enumeration(
  "SignInFailure",
  Object.keys(SIGN_IN_FAILURES),
  `What is wrong. ${described(SIGN_IN_FAILURES)}`,
);

const PersonRefusalSchema = openEnumeration(
  "PersonRefusal",
  ["disabled", "active", "last-operator"],
  "`disabled`: the person is disabled. `active`: it has accepted its invitation. `last-operator`: no other operator could sign in. More values may be added.",
);

const EndReasonSchema = enumeration(
  "TokenEndReason",
  END_REASONS,
  "`revoked`: it was revoked. `expired`: it has expired. `replaced`: it was already rotated.",
);

const reason = describedAs(EndReasonSchema, "Why the token cannot be rotated.");

const replacedBy = nullable(
  Type.String(),
  "Id of the token that replaced it. Null if it was not rotated before.",
);

const keyReason = describedAs(EndReasonSchema, "Why the key cannot be rotated.");
const replacedByKey = nullable(
  Type.String(),
  "Id of the key that replaced it. Null if it was not rotated before.",
);

const WaitingLimitSchema = enumeration(
  "RequestLimitName",
  [
    "waiting-requests",
    "merchant-requests",
    "poll-requests",
    "merchant-poll-requests",
    "endpoint-polls",
    "connection-polls",
    "merchant-polls",
    "process-polls",
  ],
  "`waiting-requests`: too many requests of the connection or of its merchant wait. `merchant-requests`: the merchant's connections, or its people and tokens, have together exceeded their rate limit. `poll-requests`, `merchant-poll-requests`: the same for polls of pull endpoints and acknowledgements. `endpoint-polls`, `connection-polls`, `merchant-polls`, `process-polls`: as many polls wait as may at the same time. More values may be added. Absent if the caller has exceeded its own rate limit.",
);

const errorsSchema = (ofFiles: boolean): TSchema =>
  Type.Array(errorSchema(ofFiles), { description: "Every error with its position, at most 500." });

/** Errors of rows, in a response that is no problem. */
export const rowErrorsSchema = (description: string) =>
  Type.Unsafe<(RowError & { readonly detail: string })[]>(Type.Array(errorSchema(true), { description }));

const errorSchema = (ofFiles: boolean): TSchema =>
  Type.Object(
    {
      pointer: Type.Optional(
        Type.String({ description: "Location in the body, as a JSON Pointer (RFC 6901)." }),
      ),
      parameter: Type.Optional(
        Type.String({ description: "Name of the parameter of the path or the query." }),
      ),
      header: Type.Optional(Type.String({ description: "Name of the header field, in lower case." })),
      ...(ofFiles && FILE_LOCATION),
      ...(ofFiles ? ruleFields(RULES, RULE_PARAMETERS) : ruleFields(SHARED_RULES, SHARED_PARAMETERS)),
      detail: Type.String({
        description: "The rule in a sentence, for people. The text may change; do not parse it.",
      }),
    },
    { title: "ValidationError", description: "An error in a request, with its position." },
  );

type Rules = Readonly<Record<string, Pick<(typeof RULES)[keyof typeof RULES], "meaning" | "needs" | "may">>>;

/** The rule of an error, and the parameters that rules have. */
function ruleFields(rules: Rules, parameters: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  const parametersOf = ({ needs, may }: Rules[string]) => [...needs, ...may];
  const used = new Set<string>([...Object.values(rules).flatMap(parametersOf), "of"]);
  const texts = Object.entries(rules).map(([name, rule]) => {
    const inText = parametersOf(rule)
      .map((parameter) => `\`${parameter}\``)
      .join(", ");
    return `\`${name}\`${inText === "" ? "" : ` (${inText})`}: ${rule.meaning}`;
  });
  const rule = openEnumeration(
    "ValidationRule",
    Object.keys(rules),
    `The rule that the value violates, with its parameters in brackets. More rules may be added. ${texts.join(" ")}`,
  );
  return {
    // Names for programs that make types of this document, as the console's do.
    rule: {
      ...rule,
      "x-parameters": Object.fromEntries(
        Object.entries(rules).map(([name, { needs, may }]) => [name, { needs, may }]),
      ),
    },
    ...Object.fromEntries(
      Object.entries(parameters)
        .filter(([name]) => used.has(name))
        .map(([name, schema]) => [name, Type.Optional(schema)]),
    ),
  };
}

const FILE_LOCATION = {
  line: Type.Optional(
    Type.Integer({ description: "In a file: the line on which the row begins, counted from 1." }),
  ),
  column: Type.Optional(Type.String({ description: "In a file: name of the column, as in the header row." })),
  value: Type.Optional(
    Type.String({ description: "In a file: what the cell contains. A long text is cut to 100 characters." }),
  ),
  subject: Type.Optional(
    Type.String({
      description:
        "In a file: what the row is about, in the words of the file, such as the SKU and the name of a product.",
    }),
  ),
};

const errorCount = Type.Integer({
  description: "For a file: the number of all errors, of which `errors` contains the first.",
});
