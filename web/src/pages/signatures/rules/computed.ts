import { areEqual, hmac } from "./bytes.ts";
import type { Finding, FindingCode } from "./finding.ts";
import type { Match, Parts } from "./match.ts";
import { mistakenKeys } from "./secret.ts";
import { decodeSignature, SIGNATURE_BYTES } from "./signatures.ts";

type Known = {
  readonly key: Uint8Array;
  readonly secret: string;
  readonly parts: Parts;
  /** What was signed. Null if it was not found: then the parts are taken as they were given. */
  readonly match: Match | null;
};

/** How one's own program has computed the signature that it expected: the usual mistakes are tried, one after the other. */
export async function computedFindings(given: string, known: Known): Promise<readonly Finding[]> {
  const text = given.trim().replace(/^(v1[,=]|sha256=)/, "");
  if (text === "") return [];
  const decoded = decodeSignature(text);
  if (decoded === null || decoded.bytes.length !== SIGNATURE_BYTES) return [{ code: "computed_unlike" }];
  for (const { key, content, code } of mistakesOf(known))
    if (areEqual(await hmac(key, content), decoded.bytes))
      return [
        { code: code === "computed_right" && decoded.code === "signature_hex" ? "computed_hex" : code },
      ];
  return [{ code: "computed_unknown" }];
}

type Mistake = { readonly key: Uint8Array; readonly content: string; readonly code: FindingCode };

function mistakesOf({ key, secret, parts, match }: Known): readonly Mistake[] {
  const signed = match ?? {
    id: parts.ids[0]?.value ?? "",
    timestamp: parts.timestamps[0]?.value ?? "",
    body: parts.bodies[0]?.value ?? "",
  };
  const { id, timestamp, body } = signed;
  const right = `${id}.${timestamp}.${body}`;
  const contents: readonly (readonly [string, FindingCode])[] = [
    [right, "computed_right"],
    [body, "computed_body_only"],
    [`${timestamp}.${body}`, "computed_without_id"],
    [`${id}.${body}`, "computed_without_timestamp"],
    ...rewritten(body).map((other) => [`${id}.${timestamp}.${other}`, "computed_rewritten"] as const),
  ];
  return [
    ...contents.map(([content, code]) => ({ key, content, code })),
    ...mistakenKeys(secret).map(({ key: mistaken, code }) => ({ key: mistaken, content: right, code })),
    // Two mistakes at once: the key is reported, because it is the first to correct.
    ...mistakenKeys(secret).map(({ key: mistaken, code }) => ({ key: mistaken, content: body, code })),
  ];
}

/** The body as frameworks write it again: indented, with a line break at the end, and as Python does it. */
function rewritten(body: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(body);
    return [
      JSON.stringify(parsed, null, 2),
      JSON.stringify(parsed, null, 4),
      `${body}\n`,
      spaced(body),
      "[object Object]",
    ];
  } catch {
    return [`${body}\n`];
  }
}

/** A space after each comma and colon outside of texts; other letters than those of ASCII escaped. */
const spaced = (body: string): string =>
  body
    .replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) => (token === "," || token === ":" ? `${token} ` : token))
    .replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
