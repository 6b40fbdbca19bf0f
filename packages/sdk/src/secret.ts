export const TEXT = new TextEncoder();

/** The key of a secret. */
export async function keyOf(secret: string) {
  const bytes =
    typeof secret === "string" && secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : null;
  if (bytes === null || bytes.length === 0) throw new TypeError("A secret is whsec_ and base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

/** What is signed: the id, the time and the body. */
export const signedText = (id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> =>
  joined(TEXT.encode(`${id}.${timestamp}.`), body);

export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
