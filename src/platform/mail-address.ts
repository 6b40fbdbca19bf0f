import { domainToASCII, domainToUnicode } from "node:url";

export const MAIL_ADDRESS_LENGTH_MAX = 254;

/** Letters of any script, as RFC 6531 permits them beside those of RFC 5321, without quotes. */
const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const parts = (text: string): { local: string; domain: string } => {
  const at = text.lastIndexOf("@");
  return { local: text.slice(0, Math.max(0, at)), domain: text.slice(at + 1) };
};

/** True for an address of one mailbox, also with an international domain or name. */
export function isMailAddress(text: string): boolean {
  const { local, domain } = parts(text.normalize("NFC"));
  return (
    !/[\s\p{Cc}]/u.test(text) && // The parser of domains leaves line breaks out.
    LOCAL_PART.test(local) &&
    Buffer.byteLength(local) <= 64 &&
    HOST.test(domainToASCII(domain)) &&
    Buffer.byteLength(`${local}@${domainToASCII(domain)}`) <= MAIL_ADDRESS_LENGTH_MAX
  );
}

/**
 * An address as it is stored: a domain has one form, whether it was typed with its letters or as `xn--…`
 * (docs/design/people.md, "Mail addresses"). What is no address stays as it is.
 */
export function normalMailAddress(text: string): string {
  const { local, domain } = parts(text.trim().normalize("NFC"));
  const ascii = domainToASCII(domain);
  return local === "" || ascii === "" ? text.trim() : `${local}@${shownDomain(ascii)}`;
}

/** With its letters, unless these could be taken for others. */
function shownDomain(ascii: string): string {
  const shown = domainToUnicode(ascii).normalize("NFC");
  const labels = shown.split(".");
  const top = scriptOf(labels.at(-1) ?? "");
  return labels.every((label) => isClear(label, top)) && domainToASCII(shown) === ascii ? shown : ascii;
}

/** Letters of one script. Those of scripts that look like Latin are clear only below a top-level domain of their own. */
function isClear(label: string, top: string | null): boolean {
  const script = scriptOf(label);
  return script !== null && (script !== "lookAlike" || top === "lookAlike");
}

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["latin", /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u],
  ["eastAsian", /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}]*$/u],
  ["eastAsian", /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Common}]*$/u],
  ["other", /^[\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]*$/u],
  ["other", /^[\p{Script=Hebrew}\p{Script=Common}\p{Script=Inherited}]*$/u],
  ["other", /^[\p{Script=Thai}\p{Script=Common}]*$/u],
  ["other", /^[\p{Script=Devanagari}\p{Script=Common}\p{Script=Inherited}]*$/u],
  ["lookAlike", /^[\p{Script=Cyrillic}\p{Script=Common}]*$/u],
  ["lookAlike", /^[\p{Script=Greek}\p{Script=Common}]*$/u],
];

const scriptOf = (label: string): string | null => SCRIPTS.find(([, of]) => of.test(label))?.[0] ?? null;
