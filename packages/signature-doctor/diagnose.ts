import {
  areEqual,
  asGiven,
  FINDINGS,
  type Finding,
  type FindingCode,
  fromBase64,
  fromUtf8,
  HEADER_NAMES,
  type HeaderName,
  hmac,
  mistakenKeys,
  type Reading,
  readSecret,
} from "./finding.ts";
import { decodeSignature, readSignatures, SIGNATURE_BYTES } from "./signatures.ts";

/** The request, as it was pasted. */
export type Evidence = {
  readonly headers: string;
  readonly body: string;
  readonly secret: string;
  /** The signature that one's own program has computed. Empty if it is not known. */
  readonly computed: string;
  /** When the request arrived, by the receiver's clock. Empty if it is not known. */
  readonly arrival: string;
};

export type Verdict =
  /** The signature fits what was pasted. */
  | "genuine"
  /** It fits once the faults that were found are undone. */
  | "explained"
  /** It does not fit. */
  | "different"
  /** There is too little to check. */
  | "incomplete";

export type Diagnosis = { readonly verdict: Verdict; readonly findings: readonly Finding[] };

/** Far more than a request of the service has. */
const CHARACTERS_MAX = 2_000_000;

/**
 * Finds out why a signature is rejected. Each part of the request is read in several ways: as it was given, and as it
 * would be without one of the usual faults. If a combination was signed, its faults are the cause.
 */
export async function diagnose(evidence: Evidence, now: Date): Promise<Diagnosis> {
  if (Object.values(evidence).some((text) => text.length > CHARACTERS_MAX))
    return { verdict: "incomplete", findings: [{ code: "input_too_long" }] };
  const read = readHeaders(evidence.headers);
  const {
    "webhook-id": id = "",
    "webhook-timestamp": timestamp = "",
    "webhook-signature": sent = "",
  } = read.headers;
  const secret = readSecret(evidence.secret);
  const { signatures, findings: signatureFindings } = readSignatures(sent);
  const always = [
    ...read.findings,
    ...(evidence.body === "" ? [{ code: "body_absent" } as const] : []),
    ...signatureFindings,
    ...secret.findings,
    ...(timestamp === "" ? [] : clockFindings(timestamp, evidence.arrival, now)),
  ];
  const isComplete = id !== "" && timestamp !== "" && signatures.length > 0 && evidence.body !== "";
  if (!isComplete || secret.key === null)
    return { verdict: "incomplete", findings: distinct([...always, ...formFindings(id, timestamp)]) };
  const parts = {
    ids: idsOf(id, evidence.body),
    timestamps: timestampsOf(timestamp),
    bodies: readingsOf(evidence.body),
  };
  const match = await findMatch(secret.key, signatures, parts);
  const computed = await computedFindings(evidence.computed, {
    key: secret.key,
    secret: secret.text,
    parts,
    match,
  });
  if (match === null) {
    const causes = [
      ...formFindings(id, timestamp),
      ...idFinding(id, evidence.body),
      ...suspicionsOf(evidence.body),
    ];
    const cause = causes.length === 0 ? [{ code: "secret_differs" } as const] : causes;
    return { verdict: "different", findings: distinct([...always, ...cause, ...computed]) };
  }
  const older =
    match.position > 0 ? [{ code: "secret_older", values: positionOf(match, signatures) } as const] : [];
  const findings = distinct([...always, ...match.findings, ...older, ...computed]);
  const hasFault = [...signatureFindings, ...secret.findings, ...match.findings].some(
    ({ code }) => FINDINGS[code] === "fault",
  );
  return { verdict: hasFault ? "explained" : "genuine", findings };
}

const EVENT_ID = /^evt_[0-9a-z]{26}$/;

/** The id may have been replaced by another one, such as that of the delivery: the body has the right one. */
function idsOf(id: string, body: string): readonly Reading<string>[] {
  const [finding] = idFinding(id, body);
  const eventId = eventIdOf(body);
  return finding === undefined || eventId === null
    ? [asGiven(id)]
    : [asGiven(id), { value: eventId, finding }];
}

function idFinding(id: string, body: string): readonly Finding[] {
  const eventId = eventIdOf(body);
  return eventId === null || eventId === id ? [] : [{ code: "id_differs", values: { id, eventId } }];
}

const formFindings = (id: string, timestamp: string): readonly Finding[] => [
  ...(id === "" || EVENT_ID.test(id) ? [] : [{ code: "id_form", values: { id } } as const]),
  ...(timestamp === "" ? [] : formOf(timestamp)),
];

const positionOf = ({ position }: Match, signatures: readonly unknown[]) => ({
  position: position + 1,
  count: signatures.length,
});

/** A later finding of the same kind about the same thing says nothing new. */
const distinct = (findings: readonly Finding[]): readonly Finding[] => {
  const keyOf = ({ code, values }: Finding) => `${code} ${values?.["name"] ?? ""}`;
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
};

/** The members of an event's body in the order in which the service writes them. */
const MEMBERS = ["id", "type", "timestamp", "testMode", "connectionId", "sequence", "data"];

/** What the body may have been when it was signed. */
function readingsOf(body: string): readonly Reading<string>[] {
  const readings: Reading<string>[] = [asGiven(body)];
  const add = (text: string | null, code: FindingCode) => {
    if (text !== null && text !== "" && !readings.some(({ value }) => value === text))
      readings.push({ value: text, finding: { code } });
  };
  add(body.replace(/^\uFEFF/, "").trim(), "body_wrapped");
  const parsed = parse(body);
  add(typeof parsed === "string" ? parsed : null, "body_quoted");
  add(base64Text(body.trim()), "body_base64");
  add(misread(body), "body_charset");
  // The service writes compact JSON. So parsing and writing restores what a framework has changed: spaces, line breaks,
  // escaped letters and slashes.
  if (typeof parsed === "object" && parsed !== null) add(JSON.stringify(parsed), "body_rewritten");
  return readings;
}

/** What a body shows that no reading of it was signed. */
function suspicionsOf(body: string): readonly Finding[] {
  const parsed = parse(body);
  if (parsed === undefined) return [{ code: "body_not_json" }];
  if (typeof parsed !== "object" || parsed === null) return [{ code: "body_changed" }];
  const order = Object.keys(parsed).filter((name) => MEMBERS.includes(name));
  const isOrdered = order.every(
    (name, index) => name === MEMBERS.filter((each) => order.includes(each))[index],
  );
  if (!isOrdered) return [{ code: "body_order" }];
  return JSON.stringify(parsed) === body.trim() ? [] : [{ code: "body_changed" }];
}

/** The event's id in the body. Null if there is none. */
function eventIdOf(body: string): string | null {
  const parsed = parse(body);
  if (typeof parsed !== "object" || parsed === null || !("id" in parsed)) return null;
  return typeof parsed.id === "string" ? parsed.id : null;
}

/** Undefined if it is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

/** Some gateways hand on the body in base64. */
function base64Text(text: string): string | null {
  const bytes = fromBase64(text);
  return bytes === null ? null : fromUtf8(bytes);
}

/** The text of bytes that were read as Latin-1 instead of UTF-8, such as `Ã¼` for `ü`. */
function misread(text: string): string | null {
  const codes = [...text].map((char) => char.codePointAt(0) ?? 0);
  if (codes.every((code) => code < 0x80) || codes.some((code) => code > 0xff)) return null;
  return fromUtf8(Uint8Array.from(codes));
}

type Known = {
  readonly key: Uint8Array;
  readonly secret: string;
  readonly parts: Parts;
  /** What was signed. Null if it was not found: then the parts are taken as they were given. */
  readonly match: Match | null;
};

/** How one's own program has computed the signature that it expected: the usual mistakes are tried, one after the other. */
async function computedFindings(given: string, known: Known): Promise<readonly Finding[]> {
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

type ReadHeaders = {
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>;
  readonly findings: readonly Finding[];
};

/**
 * Finds the three headers in a text: lines as in HTTP, a JSON object as logs have it, or the `-H` options of a curl
 * command. Everything else in it is ignored.
 */
function readHeaders(text: string): ReadHeaders {
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

type Parts = {
  readonly ids: readonly Reading<string>[];
  readonly timestamps: readonly Reading<string>[];
  readonly bodies: readonly Reading<string>[];
};

type Match = {
  /** What was signed. */
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  /** Which of the signatures fits, from 0. */
  readonly position: number;
  readonly findings: readonly Finding[];
};

/** The combination with the fewest faults that was signed with this key. */
async function findMatch(
  key: Uint8Array,
  signatures: readonly Uint8Array[],
  { ids, timestamps, bodies }: Parts,
): Promise<Match | null> {
  const combinations = ids
    .flatMap((id) => timestamps.flatMap((timestamp) => bodies.map((body) => [id, timestamp, body] as const)))
    .map(([id, timestamp, body]) => ({
      id: id.value,
      timestamp: timestamp.value,
      body: body.value,
      findings: [id, timestamp, body].flatMap(({ finding }) => (finding === null ? [] : [finding])),
    }))
    .toSorted((a, b) => a.findings.length - b.findings.length);
  for (const combination of combinations) {
    const { id, timestamp, body } = combination;
    const expected = await hmac(key, `${id}.${timestamp}.${body}`);
    const position = signatures.findIndex((signature) => areEqual(signature, expected));
    if (position >= 0) return { ...combination, position };
  }
  return null;
}

/** What the examples of the documentation and the libraries of Standard Webhooks accept. */
const TOLERANCE_SECONDS = 300;

const SECONDS = /^\d{9,11}$/;
const MILLISECONDS = /^\d{12,14}$/;

/** What `webhook-timestamp` may have been when it was signed: seconds since 1970. */
function timestampsOf(given: string): readonly Reading<string>[] {
  if (SECONDS.test(given)) return [asGiven(given)];
  if (MILLISECONDS.test(given))
    return [
      asGiven(given),
      { value: String(Math.floor(Number(given) / 1_000)), finding: { code: "timestamp_milliseconds" } },
    ];
  const date = Date.parse(given);
  if (Number.isNaN(date)) return [asGiven(given)];
  return [asGiven(given), { value: String(Math.floor(date / 1_000)), finding: { code: "timestamp_form" } }];
}

/** What the form of the timestamp says. */
const formOf = (given: string): readonly Finding[] => {
  if (SECONDS.test(given)) return [];
  return [{ code: MILLISECONDS.test(given) ? "timestamp_milliseconds" : "timestamp_form" }];
};

/**
 * What the receiver's clock says.
 * @param arrival the time at which the request arrived, by the receiver's clock; empty if it is not known
 */
function clockFindings(timestamp: string, arrival: string, now: Date): readonly Finding[] {
  const sent = Number(timestampsOf(timestamp).at(-1)?.value);
  if (!Number.isFinite(sent)) return [];
  if (arrival.trim() === "") return ageFindings(now.getTime() / 1_000 - sent);
  const arrived = secondsOf(arrival.trim());
  if (arrived === null) return [{ code: "arrival_form" }];
  const ahead = Math.round(arrived - sent);
  if (Math.abs(ahead) <= TOLERANCE_SECONDS) return [];
  return [{ code: ahead > 0 ? "clock_ahead" : "clock_behind", values: { seconds: Math.abs(ahead) } }];
}

/** Without the time of arrival: a request of the past is usual here, one of the future is not. */
function ageFindings(age: number): readonly Finding[] {
  if (age > TOLERANCE_SECONDS) return [{ code: "timestamp_old", values: { seconds: Math.round(age) } }];
  if (age < -TOLERANCE_SECONDS) return [{ code: "timestamp_future", values: { seconds: Math.round(-age) } }];
  return [];
}

/** A date, or seconds or milliseconds since 1970. */
function secondsOf(text: string): number | null {
  if (SECONDS.test(text)) return Number(text);
  if (MILLISECONDS.test(text)) return Number(text) / 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : date / 1_000;
}
