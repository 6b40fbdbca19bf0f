import { type Finding, fromBase64, fromBase64Url, fromHex } from "./finding.ts";

/** HMAC-SHA-256. */
export const SIGNATURE_BYTES = 32;

type ReadSignatures = { readonly signatures: readonly Uint8Array[]; readonly findings: readonly Finding[] };

/** The signatures of `webhook-signature`: `v1,` and base64, separated by spaces, the newest secret's first. */
export function readSignatures(header: string): ReadSignatures {
  const text = header.trim();
  // A comma between two signatures instead of a space; the one after `v1` stays.
  const isJoined = /[;,]\s*v1,/.test(text);
  const parts = isJoined ? text.split(/[;,]\s*(?=v1,)/) : text.split(/\s+/);
  const read = parts.filter((part) => part !== "").map(readSignature);
  const findings = read.flatMap(({ finding }) => (finding === null ? [] : [finding]));
  const signatures = read.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]));
  return {
    signatures,
    findings: [
      ...(isJoined ? [{ code: "signature_separator" } as const] : []),
      ...findings.filter(({ code }, index) => findings.findIndex((other) => other.code === code) === index),
      ...(signatures.length > 1
        ? [{ code: "signatures_several", values: { count: signatures.length } } as const]
        : []),
    ],
  };
}

type ReadSignature = { readonly bytes: Uint8Array | null; readonly finding: Finding | null };

function readSignature(part: string): ReadSignature {
  const [, version, encoded] = /^(v\d+\w*)[,=](.*)$/.exec(part) ?? [null, null, part.replace(/^sha256=/, "")];
  if (version !== null && version !== "v1")
    return { bytes: null, finding: { code: "signature_version", values: { version: version ?? "" } } };
  const decoded = decodeSignature(encoded ?? "");
  if (decoded === null) return { bytes: null, finding: { code: "signature_form" } };
  if (decoded.bytes.length !== SIGNATURE_BYTES)
    return { bytes: null, finding: { code: "signature_length", values: { bytes: decoded.bytes.length } } };
  if (decoded.code !== null) return { bytes: decoded.bytes, finding: { code: decoded.code } };
  return { bytes: decoded.bytes, finding: version === null ? { code: "signature_unversioned" } : null };
}

type Decoded = { readonly bytes: Uint8Array; readonly code: "signature_hex" | "signature_url_safe" | null };

/** Hex digits are base64 as well, so their length decides first. */
export function decodeSignature(encoded: string): Decoded | null {
  const hex = encoded.length === SIGNATURE_BYTES * 2 ? fromHex(encoded) : null;
  if (hex !== null) return { bytes: hex, code: "signature_hex" };
  const bytes = fromBase64(encoded);
  if (bytes !== null) return { bytes, code: null };
  const urlSafe = fromBase64Url(encoded);
  return urlSafe === null ? null : { bytes: urlSafe, code: "signature_url_safe" };
}
