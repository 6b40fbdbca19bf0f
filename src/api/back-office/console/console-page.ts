import { randomBytes } from "node:crypto";

/** What `web/index.html` has in the place of the nonce. */
const PLACEHOLDER = "%STYLE_NONCE%";
const NONCE_BYTES = 16;

/**
 * The page of the console and its headers. Scripts and data come from this listener alone, and no script is in the page.
 * Mantine makes style elements while the page runs: the page gives it the nonce of the response (decision 0126).
 */
export function consolePage(html: string): { headers: Record<string, string>; body: string } {
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  return {
    headers: { ...PAGE_HEADERS, "content-security-policy": policy(nonce) },
    body: html.replaceAll(PLACEHOLDER, nonce),
  };
}

/** Like `no-store`, which all responses have: a stored page would have the nonce of an old response. */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
