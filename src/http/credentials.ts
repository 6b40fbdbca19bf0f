import type { IncomingHttpHeaders } from "node:http";
import type { Problem } from "../platform/wire/problems.ts";

/** The token of an `Authorization: Bearer …` header. Null if the header has another form. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1] ?? null;
}

/**
 * `Authorization` takes precedence over `x-api-key` (docs/design/api-conventions.md, "Routes first, then keys"). Null if
 * neither contains a key.
 */
export function apiKeyOf(headers: IncomingHttpHeaders): string | null {
  if (headers.authorization !== undefined) return bearerToken(headers.authorization);
  const sent = headers["x-api-key"];
  return typeof sent === "string" && sent !== "" ? sent : null;
}

/** What callers of a listener send. */
type Credential = "key" | "token";

const CHALLENGE = 'Bearer realm="partner-orders"';

/**
 * RFC 6750, section 3.1: the error is named only if a key was sent. Unknown, revoked and expired keys get the same
 * response. One that can be no key, by its form alone, gets the form that is expected
 * (docs/design/api-conventions.md, "Routes first, then keys").
 */
export const unauthorized = (headers: IncomingHttpHeaders, credential: Credential = "key"): Problem => {
  const { authorization, "x-api-key": alone } = headers;
  const keySent = authorization !== undefined || alone !== undefined;
  return {
    code: "unauthorized",
    detail: keySent ? faultOf(headers, credential) : `Send ${EXPECTED[credential]}.`,
    headers: { "www-authenticate": keySent ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE },
  };
};

const EXPECTED = {
  key: "a key as Authorization: Bearer <key>, or as x-api-key: <key>",
  token: "a token as Authorization: Bearer <token>",
} as const satisfies Record<Credential, string>;

const NAMES = { key: "API key", token: "token" } as const satisfies Record<Credential, string>;

/** Never contains what was sent. */
function faultOf({ authorization, "x-api-key": alone }: IncomingHttpHeaders, credential: Credential): string {
  if (PLACEHOLDER.test(authorization ?? String(alone)))
    return `This is the placeholder of an example. Put your own ${credential} in its place.`;
  if (authorization === undefined)
    return credential === "key"
      ? keyFault(String(alone), "x-api-key")
      : `x-api-key is not read here. Send ${EXPECTED.token}.`;
  const text = bearerToken(authorization);
  if (text !== null)
    return credential === "key" ? keyFault(text, "Authorization") : tokenFault(text, "Authorization");
  const both = alone === undefined ? "" : " If both headers are sent, Authorization counts.";
  return `${schemeFault(authorization.trim(), credential)} Send ${EXPECTED[credential]}.${both}`;
}

function schemeFault(authorization: string, credential: Credential): string {
  if (/^(?:Bearer)?$/i.test(authorization)) return `Authorization contains no ${credential}.`;
  if (/^Bearer\s+Bearer\b/i.test(authorization)) return "Authorization contains the word Bearer twice.";
  if (/^Bearer\s/i.test(authorization))
    return `Authorization contains more than Bearer, a space and the ${credential}.`;
  if (OF_SERVICE.test(authorization)) return "Authorization lacks the word Bearer.";
  return /^Basic\s/i.test(authorization)
    ? "Authorization has the scheme Basic instead of Bearer."
    : "Authorization has another form than Bearer and a space.";
}

/** The beginnings of everything secret that the service issues. */
const OF_SERVICE = /^(?:pok|pot|whsec)_/;
const KEY_START = /^pok_(?:live|test)_/;
const KEY_TEXT = /^pok_(?:live|test)_[A-Za-z0-9_-]{43}$/;

function keyFault(text: string, header: string): string {
  const wrapped = wrappingFault(text, header, "key");
  if (wrapped !== null) return wrapped;
  if (text.startsWith("pot_")) return "This is a token of the back office. Send a key of the connection.";
  if (text.startsWith("whsec_"))
    return "This is the signing secret of a webhook endpoint. Send a key of the connection.";
  if (!KEY_START.test(text))
    return `The ${NAMES.key} is not valid: a key begins with pok_live_ or pok_test_.`;
  return KEY_TEXT.test(text)
    ? `The ${NAMES.key} is not valid.`
    : `The ${NAMES.key} is not valid: it was not copied exactly. 43 letters, digits, - and _ follow its beginning.`;
}

/** `pok_test_…`, `pok_test_...`, `pok_test_YOUR_KEY`, and nothing that can be a key. A header has the bytes of `…` as characters. */
const PLACEHOLDER =
  /\bp(?:ok|ot)_(?![a-z-]+_[\w-]{43}$)[a-z_-]*(?:\u2026|\u00e2\u0080\u00a6|\.{2,}|x{3,}$|<|your)/i;

const TOKEN_TEXT = /^pot_[a-z-]+_[A-Za-z0-9_-]{43}$/;

/** `OPERATOR_TOKEN` has no form. */
function tokenFault(text: string, header: string): string {
  const wrapped = wrappingFault(text, header, "token");
  if (wrapped !== null) return wrapped;
  if (text.startsWith("pok_")) return "This is a key of the partner API. Send a token of the back office.";
  return text.startsWith("pot_") && !TOKEN_TEXT.test(text)
    ? `The ${NAMES.token} is not valid: it was not copied exactly.`
    : `The ${NAMES.token} is not valid.`;
}

/** What surrounds a key, or stands in its place. */
function wrappingFault(text: string, header: string, credential: Credential): string | null {
  if (text === "") return `${header} contains no ${credential}.`;
  if (/^Bearer\s/i.test(text)) return `${header} takes the ${credential} alone, without the word Bearer.`;
  if (/^(["'<`]).*["'>`]$/.test(text))
    return `The ${credential} is in quotes or brackets. Send it without them.`;
  return /^[${%]/.test(text) ? `${header} contains the name of a variable instead of its value.` : null;
}
