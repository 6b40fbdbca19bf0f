import { FINDINGS, type Finding } from "./finding.ts";

/** What the doctor says in English. The console has it in other languages too; `{{name}}` is a value of the finding. */
export const TEXTS = {
  severities: { fault: "Fault", warning: "Warning", note: "Note" },
  verdicts: {
    genuine: "The signature is right",
    explained: "The cause is found",
    different: "The signature does not fit",
    incomplete: "This cannot be checked yet",
  },
  verdictsAbout: {
    genuine: "The service has sent this request, and this secret signed it.",
    explained: "The request is genuine: the signature fits once the faults below are undone.",
    different: "This secret did not sign this content. The likely cause is below.",
    incomplete: "Correct what is listed below.",
  },
  findings: {
    headers_absent: "Paste the headers of the request.",
    header_missing:
      "{{name}} is missing. Log all headers as your server receives them: a proxy may remove those that it does not know.",
    body_absent: "Paste the body of the request.",
    secret_absent: "Paste the signing secret of the endpoint.",
    input_too_long: "This is longer than any request of the service.",
    header_renamed:
      "{{name}} arrived as {{given}}. Read it under this name, or configure the proxy to keep it.",
    header_repeated: "{{name}} occurs twice with different values. The first one is used here.",
    id_form: "webhook-id is {{id}}. The service sends the id of the event, which begins with evt_.",
    id_differs:
      "webhook-id is {{id}}, but the body is of event {{eventId}}. Headers and body are of different requests, or your program changed the id.",
    timestamp_milliseconds:
      "webhook-timestamp is in milliseconds. Use the seconds that were received, unchanged.",
    timestamp_form:
      "webhook-timestamp is not a number of seconds since 1970. Use the text that was received, unchanged.",
    timestamp_old:
      "The request was sent {{age}} ago. Receivers reject requests that are older than five minutes when they arrive.",
    timestamp_future:
      "The request was sent {{age}} after now, by the clock of this computer. One of the clocks is wrong.",
    clock_behind:
      "The clock of your server is {{age}} behind. Synchronize it (NTP): five minutes are tolerated.",
    clock_ahead:
      "The request arrived {{age}} after it was sent. The clock of your server is ahead, or the request waited in a queue before it was verified.",
    arrival_form: "The time of arrival cannot be read.",
    signature_unversioned: "The signature has no version. Compare with the whole of v1,… as it was received.",
    signature_version: "Version {{version}} is another kind of signature. The service signs with v1.",
    signature_hex: "The signature is written in hexadecimal digits. The service writes base64.",
    signature_url_safe:
      "The signature is in the base64 of addresses, with - and _. The service uses + and /.",
    signature_separator: "The signatures are separated by commas. The service separates them by spaces.",
    signature_length: "A signature has 32 bytes, and this one has {{bytes}}. It may have been cut.",
    signature_form: "A signature cannot be read: it is v1, followed by base64.",
    signatures_several:
      "The request has {{count, number}} signatures, because the secret was rotated. One match is enough: compare with each.",
    secret_is_key: "This is an API key. Use the signing secret of the endpoint, which begins with whsec_.",
    secret_is_id:
      "This is an id ({{prefix}}…). Use the signing secret of the endpoint, which begins with whsec_.",
    secret_wrapped:
      "There are spaces, line breaks or quotes around the secret. Remove them where your program reads it.",
    secret_without_prefix: "The secret begins with whsec_. Libraries may need that part.",
    secret_form: "The part after whsec_ is not base64. The secret may have been cut or masked.",
    secret_length: "The key in the secret has {{bytes}} bytes instead of 32. The secret may have been cut.",
    secret_older:
      "Your secret made signature {{position}} of {{count, number}}. It was rotated, and signs only until the overlap ends. Store the new one.",
    secret_differs:
      "Headers and body look untouched, so the secret is another one: of another endpoint, of the test or the live endpoint, or from before a rotation. If it is lost, rotate the secret.",
    body_wrapped: "There are spaces or line breaks around the body that were not signed.",
    body_quoted:
      "The body is a JSON text within JSON. Verify the text in it, before it is written as JSON again.",
    body_base64: "The body is in base64, as some gateways hand it on. Decode it before you verify it.",
    body_charset: "The body was read as Latin-1. Read its bytes as UTF-8, or verify the bytes.",
    body_rewritten:
      "The body was parsed and written again: spaces, line breaks or escapes differ. Verify the received bytes, before your framework parses them.",
    body_changed:
      "The body is not in the form in which the service sends it, and its content differs as well.",
    body_order:
      "The fields of the body are in another order than the service writes. It was parsed and written again.",
    body_not_json: "The body is not complete JSON. It may have been cut, for example by a log.",
    computed_right: "Your program computed the right signature. Its mistake is in the comparison.",
    computed_hex:
      "Your program computed the right signature, but writes it in hexadecimal digits. Write base64.",
    computed_secret_text:
      "Your program uses the text of the secret as the key. Decode the part after whsec_ from base64 first.",
    computed_prefix_kept:
      "Your program uses whsec_ as a part of the key. Remove it, and decode the rest from base64.",
    computed_body_only:
      "Your program signs the body alone. Sign webhook-id, a dot, webhook-timestamp, a dot, the body.",
    computed_without_id: "Your program leaves out webhook-id and its dot at the beginning.",
    computed_without_timestamp: "Your program leaves out webhook-timestamp and its dot.",
    computed_rewritten:
      "Your program signs the body after parsing and writing it again. Sign the received bytes.",
    computed_unlike: "The signature of your program is no HMAC-SHA-256: it has not 32 bytes in base64.",
    computed_unknown:
      "None of the usual mistakes leads to what your program computed. Compare its inputs byte by byte.",
  },
};

const SEVERITIES = ["fault", "warning", "note"];

/** What to correct first comes first. */
export const bySeverity = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => SEVERITIES.indexOf(FINDINGS[a.code]) - SEVERITIES.indexOf(FINDINGS[b.code]));

/** A finding as an English sentence. */
export function sentenceOf({ code, values = {} }: Finding): string {
  const all: Readonly<Record<string, string | number>> = { ...values, age: ageOf(Number(values["seconds"])) };
  return TEXTS.findings[code].replace(/\{\{(\w+)(?:, number)?\}\}/g, (_match, name) =>
    String(all[name] ?? ""),
  );
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** In the largest unit that fits. */
function ageOf(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["second", 1];
  const count = Math.round(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
