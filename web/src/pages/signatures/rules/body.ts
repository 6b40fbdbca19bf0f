import { fromBase64, fromUtf8 } from "./bytes.ts";
import { asGiven, type Finding, type FindingCode, type Reading } from "./finding.ts";

/** The members of an event's body in the order in which the service writes them. */
const MEMBERS = ["id", "type", "timestamp", "testMode", "connectionId", "sequence", "data"];

/** What the body may have been when it was signed. */
export function readingsOf(body: string): readonly Reading<string>[] {
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
export function suspicionsOf(body: string): readonly Finding[] {
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
export function eventIdOf(body: string): string | null {
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
