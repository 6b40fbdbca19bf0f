import { isDeepStrictEqual } from "node:util";
import { Type } from "typebox";
import { type SecretBox, SecretBoxError } from "../../platform/secret-box.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";

// Headers that an endpoint adds to each of its requests, such as the key of an API gateway (docs/design/signing.md, "Static
// headers"). Their values are secrets: they are stored encrypted, and no response, log or audit entry has them.

/** Values by name. */
export type StaticHeaders = Readonly<Record<string, string>>;

/** As they are stored: the names, and the encrypted headers, or null if there are none. */
export type SealedHeaders = { readonly names: readonly string[]; readonly sealed: string | null };

/** Stands for a value. No value can be this, because it is not ASCII. */
const MASK = "••••";

const HEADERS_MAX = 10;
/** Characters of all names and values. */
const CHARACTERS_MAX = 4_096;

/** What the service sets itself, what belongs to one connection or proxy, and what would change how the body is read. */
const RESERVED = new Set(
  [
    [
      "host",
      "content-length",
      "content-type",
      "content-encoding",
      "content-location",
      "content-range",
      "date",
    ],
    ["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"],
    ["te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect", "user-agent"],
    ["accept-encoding", "traceparent", "tracestate", "baggage", "forwarded", "via", "max-forwards"],
  ].flat(),
);
const RESERVED_PREFIXES = ["webhook-", "x-forwarded-"];
const RESERVED_TEXT =
  "`host`, `date`, `user-agent`, `expect`, `accept-encoding`, those of the content (`content-type`, `content-length` …), of one connection (`connection`, `transfer-encoding`, `upgrade` …), of proxies (`via`, `forwarded`, `x-forwarded-*`, `proxy-*`) and of tracing, and `webhook-*`";

const TEXT = "Headers that every request to the endpoint has, such as a key of your API gateway.";
const examples = [{ "x-api-key": "3f7c0d" }];

/** In a request for a new endpoint, and in a change of one. */
export const headersRequestField = Type.Unsafe<StaticHeaders>({
  type: "object",
  maxProperties: HEADERS_MAX,
  propertyNames: { type: "string", minLength: 1, maxLength: 64, format: "header-name" },
  additionalProperties: { type: "string", maxLength: 1_000, format: "header-value" },
  description: `${TEXT} Up to ${HEADERS_MAX}, with together ${CHARACTERS_MAX} characters. Names are compared without their case, and these are reserved: ${RESERVED_TEXT}. The values are stored encrypted and never returned. A change replaces all of them, and \`{}\` removes them. The value \`${MASK}\` keeps the stored one. Together with a \`url\` of another origin they are required, with all values, if the endpoint has headers: what is stored is not sent to another receiver.`,
  examples,
});

export const headersField = Type.Unsafe<StaticHeaders>({
  type: "object",
  additionalProperties: { type: "string" },
  description: `${TEXT} Every value is shown as \`${MASK}\`. Empty if there are none.`,
  examples: [{ "x-api-key": MASK }],
});

/** As responses show them. */
export const maskedHeaders = ({ names }: SealedHeaders): StaticHeaders =>
  Object.fromEntries(names.map((name) => [name, MASK]));

export const NO_HEADERS: SealedHeaders = { names: [], sealed: null };

const sealHeaders = (box: SecretBox, endpointId: string, headers: StaticHeaders): SealedHeaders => {
  const names = Object.keys(headers);
  return names.length === 0 ? NO_HEADERS : { names, sealed: box.seal(JSON.stringify(headers), endpointId) };
};

/** True if a change of an endpoint keeps a stored value: of all headers, or of one that it masks. */
export const keepsStored = ({ names }: SealedHeaders, requested: StaticHeaders | undefined): boolean =>
  names.length > 0 && (requested === undefined || Object.values(requested).includes(MASK));

/** The headers of an endpoint, decrypted. */
export const openHeaders = (sealed: string | null, open: (sealed: string) => string): StaticHeaders =>
  sealed === null ? {} : JSON.parse(open(sealed));

/** The stored headers after a change: the same if it changes nothing. A value that it masks is kept, and null keeps all. */
export function replaceHeaders(
  box: SecretBox,
  endpointId: string,
  stored: SealedHeaders,
  requested: StaticHeaders | null,
): SealedHeaders | Problem {
  if (requested === null) return stored;
  const known = storedHeaders(box, endpointId, stored);
  const wanted = Object.entries(requested).map(([name, value]) => [
    name,
    value !== MASK ? value : Object.hasOwn(known, name) ? known[name] : undefined,
  ]);
  const unknown = wanted.filter(([, value]) => value === undefined);
  if (unknown.length > 0)
    return validationFailed(
      unknown.map(([name = ""]) => ({ pointer: pointerOf(name), rule: "stored_header" })),
    );
  const headers: StaticHeaders = Object.fromEntries(wanted);
  return isDeepStrictEqual(headers, known) ? stored : sealHeaders(box, endpointId, headers);
}

/** None if their key is not configured: then they are to be set again. */
function storedHeaders(box: SecretBox, endpointId: string, { sealed }: SealedHeaders): StaticHeaders {
  try {
    return openHeaders(sealed, (text) => box.open(text, endpointId));
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    return {};
  }
}

/** The errors of headers that a schema cannot find. */
export function headerErrors(body: unknown): ValidationError[] {
  const { headers } = (body ?? {}) as { headers?: unknown }; // The body may have any form; a missing member is undefined.
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return [];
  const entries = Object.entries(headers).slice(0, HEADERS_MAX); // The schema finds that there are more.
  const names = entries.map(([name]) => name.toLowerCase());
  const length = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  return [
    ...entries.flatMap(([name], index): ValidationError[] => {
      const pointer = pointerOf(name);
      const lower = name.toLowerCase();
      if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix)))
        return [{ pointer, rule: "reserved_header" }];
      return names.indexOf(lower) < index ? [{ pointer, rule: "duplicate_header" }] : [];
    }),
    ...(length > CHARACTERS_MAX
      ? [{ pointer: "/headers", rule: "headers_length" as const, max: CHARACTERS_MAX }]
      : []),
  ];
}

const pointerOf = (name: string): string => `/headers/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
