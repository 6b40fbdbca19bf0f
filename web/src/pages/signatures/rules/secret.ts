import { fromBase64, fromBase64Url } from "./bytes.ts";
import type { Finding } from "./finding.ts";

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
