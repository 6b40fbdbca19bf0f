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

/** HMAC-SHA-256, by the browser's own cryptography: the key and the content stay in it. */
export async function hmac(key: Uint8Array, content: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", Uint8Array.from(key), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, Uint8Array.from(toUtf8(content))));
}
