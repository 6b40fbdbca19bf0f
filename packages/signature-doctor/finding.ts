/** The findings of the doctor. Each has a text in `texts.ts`. */
export const FINDINGS = {
  // What is needed for a check.
  headers_absent: "fault",
  header_missing: "fault",
  body_absent: "fault",
  secret_absent: "fault",
  input_too_long: "fault",
  // Headers.
  header_renamed: "warning",
  header_repeated: "warning",
  id_form: "fault",
  id_differs: "fault",
  timestamp_milliseconds: "fault",
  timestamp_form: "fault",
  timestamp_old: "note",
  timestamp_future: "warning",
  clock_behind: "fault",
  clock_ahead: "fault",
  arrival_form: "warning",
  // Signatures.
  signature_unversioned: "fault",
  signature_version: "fault",
  signature_hex: "fault",
  signature_url_safe: "fault",
  signature_separator: "fault",
  signature_length: "fault",
  signature_form: "fault",
  signatures_several: "note",
  // The secret.
  secret_is_key: "fault",
  secret_is_id: "fault",
  secret_wrapped: "warning",
  secret_without_prefix: "warning",
  secret_form: "fault",
  secret_length: "fault",
  secret_older: "warning",
  secret_differs: "fault",
  // The body.
  body_wrapped: "fault",
  body_quoted: "fault",
  body_base64: "fault",
  body_charset: "fault",
  body_rewritten: "fault",
  body_changed: "fault",
  body_order: "fault",
  body_not_json: "fault",
  // The signature that one's own program has computed.
  computed_right: "note",
  computed_hex: "warning",
  computed_secret_text: "fault",
  computed_prefix_kept: "fault",
  computed_body_only: "fault",
  computed_without_id: "fault",
  computed_without_timestamp: "fault",
  computed_rewritten: "fault",
  computed_unlike: "fault",
  computed_unknown: "fault",
} as const satisfies Record<string, "fault" | "warning" | "note">;

export type FindingCode = keyof typeof FINDINGS;

export type Finding = {
  readonly code: FindingCode;
  /** What its text names. */
  readonly values?: Readonly<Record<string, string | number>>;
};

/** The three headers of Standard Webhooks 1.0.0, which the service sends. */
export const HEADER_NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
export type HeaderName = (typeof HEADER_NAMES)[number];

/** What a part of the request may have been when it was signed. The first reading is the part as it was given. */
export type Reading<Value> = {
  readonly value: Value;
  /** What has happened to the part if this is what was signed. Null: nothing. */
  readonly finding: Finding | null;
};

export const asGiven = <Value>(value: Value): Reading<Value> => ({ value, finding: null });

/** The bytes of a text in base64. Null if it is none. */
export function fromBase64(text: string): Uint8Array | null {
  const digits = text.replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]+$/.test(digits) || digits.length % 4 === 1) return null;
  return Uint8Array.from(atob(digits), (char) => char.charCodeAt(0));
}

/** Base64 for addresses, with `-` and `_`. */
export const fromBase64Url = (text: string): Uint8Array | null =>
  fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));

export const fromHex = (text: string): Uint8Array | null =>
  /^([0-9a-f]{2})+$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : null;

/** What a program takes as bytes if it does not decode the text. */
const toUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The text of bytes in UTF-8. Null if they are none. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export const areEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

/** HMAC-SHA-256, by Web Crypto: the key and the content stay in this program. */
export async function hmac(key: Uint8Array, content: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", Uint8Array.from(key), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, Uint8Array.from(toUtf8(content))));
}

const PREFIX = "whsec_";
/** The service makes keys of 32 bytes; Standard Webhooks allows 24 to 64. */
const BYTES_MIN = 24;
const BYTES_MAX = 64;

type ReadSecret = {
  /** Null if no key can be made of it. */
  readonly key: Uint8Array | null;
  /** Without what surrounds it. */
  readonly text: string;
  readonly findings: readonly Finding[];
};

/** The key of a secret: the part after `whsec_`, decoded from base64. */
export function readSecret(given: string): ReadSecret {
  const text = given
    .trim()
    .replace(/^(["'`])(.*)\1$/s, "$2")
    .trim();
  if (text === "") return { key: null, text, findings: [{ code: "secret_absent" }] };
  const wrapped: Finding[] = text === given ? [] : [{ code: "secret_wrapped" }];
  if (/^pok_/.test(text)) return { key: null, text, findings: [{ code: "secret_is_key" }] };
  const idPrefix = /^(whe|evt|dlv|con|key|mer)_/.exec(text)?.[0];
  if (idPrefix !== undefined)
    return { key: null, text, findings: [{ code: "secret_is_id", values: { prefix: idPrefix } }] };
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  const unprefixed: Finding[] = encoded === text ? [{ code: "secret_without_prefix" }] : [];
  const key = fromBase64(encoded);
  if (key === null)
    return { key: fromBase64Url(encoded), text, findings: [...wrapped, { code: "secret_form" }] };
  const isLength = key.length >= BYTES_MIN && key.length <= BYTES_MAX;
  const length: Finding[] = isLength ? [] : [{ code: "secret_length", values: { bytes: key.length } }];
  return { key, text, findings: [...wrapped, ...unprefixed, ...length] };
}

/** The keys that programs make of a secret by mistake, and how. */
export function mistakenKeys(secret: string): { readonly key: Uint8Array; readonly code: Finding["code"] }[] {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const text = new TextEncoder();
  const lenient = lenientBase64(PREFIX + encoded);
  return [
    { key: text.encode(encoded), code: "computed_secret_text" },
    { key: text.encode(PREFIX + encoded), code: "computed_prefix_kept" },
    ...(lenient === null ? [] : [{ key: lenient, code: "computed_prefix_kept" as const }]),
  ];
}

/** As lenient decoders do it: both alphabets, and what is left over at the end is dropped. */
function lenientBase64(text: string): Uint8Array | null {
  const digits = text.replace(/=+$/, "");
  return fromBase64Url(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
}
