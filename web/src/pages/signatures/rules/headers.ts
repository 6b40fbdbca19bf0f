import { type Finding, HEADER_NAMES, type HeaderName } from "./finding.ts";

type ReadHeaders = {
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>;
  readonly findings: readonly Finding[];
};

/**
 * Finds the three headers in a text: lines as in HTTP, a JSON object as logs have it, or the `-H` options of a curl
 * command. Everything else in it is ignored.
 */
export function readHeaders(text: string): ReadHeaders {
  if (text.trim() === "") return { headers: {}, findings: [{ code: "headers_absent" }] };
  const headers: Partial<Record<HeaderName, string>> = {};
  const findings: Finding[] = [];
  for (const [given, value] of pairsOf(text)) {
    const name = HEADER_NAMES.find((each) => plainName(given) === each);
    if (name === undefined) continue;
    if (headers[name] !== undefined && headers[name] !== value)
      findings.push({ code: "header_repeated", values: { name } });
    else if (given.toLowerCase() !== name) findings.push({ code: "header_renamed", values: { given, name } });
    headers[name] ??= value;
  }
  const missing = HEADER_NAMES.filter((name) => !headers[name]);
  return {
    headers,
    findings: [
      ...findings,
      ...missing.map((name): Finding => ({ code: "header_missing", values: { name } })),
    ],
  };
}

/** CGI and its heirs write `HTTP_WEBHOOK_ID`; libraries of Svix also know `svix-id`. */
const plainName = (given: string): string =>
  given
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^http-/, "")
    .replace(/^svix-/, "webhook-");

const pairsOf = (text: string): (readonly [string, string])[] => pairsOfJson(text) ?? pairsOfLines(text);

function pairsOfJson(text: string): (readonly [string, string])[] | null {
  const members = parsedObject(text);
  if (members === null) return null;
  return Object.entries(members).flatMap(([name, value]) =>
    // Some logs have a list for each name.
    [value].flat().map((one) => [name, String(one).trim()] as const),
  );
}

function parsedObject(text: string): object | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const LINE = /^["'\s]*([A-Za-z][\w-]*)["']?\s*(?::|=>|=)\s*["']?(.*?)["',\s\\]*$/;

const pairsOfLines = (text: string): (readonly [string, string])[] =>
  text
    .split(/\r?\n|\s-H\s|\s--header\s/)
    .map((line) => LINE.exec(line.replace(/^\s*(-H|--header)\s/, "")))
    .flatMap((match) => (match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const]));
