import type { ShippingAddress } from "../lifecycle/order.ts";
import { foldText, foldTextInTwoLetters } from "../platform/fold-text.ts";

// What an order is found by, and what a typed text finds (docs/design/api-conventions.md, "Searching orders"). Both are words without
// spaces and quotes, so that they need no escape in a query.

type Searchable = Pick<
  ShippingAddress,
  "firstName" | "lastName" | "name" | "company" | "city" | "zip" | "phone"
>;

/** The words that an order is found by, separated by spaces. */
export function searchWordsOf(address: Searchable, externalOrderId: string | null): string {
  const { firstName, lastName, name, company, city, zip, phone } = address;
  const texts = [firstName, lastName, name, company, city].filter((text) => text !== null);
  const parts = wordsOf(zip);
  return [
    ...new Set([
      ...texts.flatMap((text) => [...wordsOf(text), ...wordsInTwoLetters(text), ...withoutArticles(text)]),
      ...parts,
      parts.join(""),
      ...phoneWords(phone),
      // A word of the shop's own would be in all of its ids.
      ...wordsOf(externalOrderId ?? "").filter((word) => /\d{3}/.test(word)),
    ]),
  ]
    .filter((word) => word !== "")
    .join(" ");
}

const wordsOf = (text: string): string[] => split(foldText(text));

function wordsInTwoLetters(text: string): string[] {
  const folded = foldTextInTwoLetters(text);
  return folded === foldText(text) ? [] : split(folded);
}

const split = (folded: string): string[] =>
  folded.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== "");

/** `écuyer` of `l’Écuyer`, and `connor` of `O'Connor`. */
const withoutArticles = (text: string): string[] =>
  text
    .split(/[\s-]+/u)
    .flatMap((word) => /^\p{L}{1,2}['’ʼ](.+)$/u.exec(word)?.[1] ?? [])
    .flatMap(wordsOf);

/** Numbers are found by their end: it is the same with and without the code of a country. Turned round, the end is a beginning. */
function phoneWords(phone: string | null): string[] {
  const digits = phoneDigits(phone ?? "");
  return digits.length < PHONE_DIGITS_MIN ? [] : [phoneWord(digits)];
}

const PHONE_DIGITS_MIN = 6;

/** Without an extension, and without the zeros that stand for another country or another town. */
const phoneDigits = (phone: string): string =>
  phone.replace(EXTENSION, "").replaceAll("(0)", "").replace(/\D/g, "").replace(/^0+/, "");

/** As it is written in North America, `(555) 010-9999 x12`. Elsewhere it is a part of the number. */
const EXTENSION = /\s*(?:x|ext\.?|extension|#)\s*\d{1,6}\s*$/i;

const phoneWord = (digits: string): string => `+${[...digits].reverse().join("")}`;

/** Alternatives, of which an order must have all terms of one. */
export type Terms = readonly (readonly Term[])[];

type Term = {
  /** As a condition of full-text search. */
  readonly query: string;
  /** The same for the words of an order with a space before and after. */
  readonly pattern: string;
  /** It finds parts within words too. */
  readonly part: string;
};

/** More words than an order has. */
const WORDS_MAX = 10;

/** What a typed text finds by words. Empty: it has none. */
export function termsOf(typed: string): Terms {
  const words = wordsOf(typed).slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  const inTwoLetters = wordsInTwoLetters(typed).slice(0, WORDS_MAX);
  const { beginnings, whole } = phonesOf(typed);
  const spellings = [words, inTwoLetters, withJoinedCode(words), beginnings].filter((all) => all.length > 0);
  return [
    ...spellings.map((all) =>
      all.map((word) => ({ query: `'${word}':*`, pattern: `% ${word}%`, part: `%${word}%` })),
    ),
    ...whole.map((word) => [{ query: `'${word}'`, pattern: `% ${word} %`, part: `% ${word} %` }]),
  ];
}

/**
 * A condition of full-text search that all orders with the alternatives meet, and few others. The index pays for each entry of each
 * term, so it gets the two rarest ones, or the rarest alone if no order of a sample has it.
 * @param counts of orders in the sample, by pattern
 */
export const queryOf = (terms: Terms, counts: ReadonlyMap<string, number>): string =>
  terms
    .map((all) => {
      const count = ({ pattern }: Term) => counts.get(pattern) ?? 0;
      const sorted = all.toSorted((one, other) => count(one) - count(other));
      const rarest = sorted.slice(0, sorted.some((term) => count(term) === 0) ? 1 : 2);
      return `(${rarest.map(({ query }) => query).join(" & ")})`;
    })
    .join(" | ");

/** `sw1a1aa` of `SW1A 1AA`, since a postal code may be stored without its space. Empty if no two words can be one. */
function withJoinedCode(words: readonly string[]): string[] {
  const first = words.findIndex((word, index) => isPostalCode(word, words[index + 1]));
  return first === -1 ? [] : words.toSpliced(first, 2, `${words[first]}${words[first + 1]}`);
}

/** A part with a digit, and another one or two letters, as in `1012 AB`. */
const isPostalCode = (word: string, next: string | undefined): boolean =>
  /^(?=\S*\d)[a-z\d]{2,5} (?:(?=\S*\d)[a-z\d]{2,5}|[a-z]{2})$/.test(`${word} ${next ?? ""}`);

/** A number with the code of its country, which has up to three digits, also finds the same number without. */
function phonesOf(text: string): { beginnings: string[]; whole: string[] } {
  const typed = text.replace(/^\s*tel:/i, "").replace(EXTENSION, "");
  const digits = phoneDigits(typed);
  if (!/^\s*\+?[\d\s()/.-]+$/.test(typed) || digits.length < PHONE_DIGITS_MIN)
    return { beginnings: [], whole: [] };
  const isInternational = /^\s*(?:\+|00)/.test(typed);
  const without = isInternational ? [1, 2, 3].map((count) => digits.slice(count)) : [];
  return {
    beginnings: [phoneWord(digits)],
    whole: without.filter((rest) => rest.length >= PHONE_DIGITS_MIN).map(phoneWord),
  };
}

/** The word that all orders of a merchant have in order_requests_words_idx. */
export const merchantWord = (merchantId: string): string => `'@${merchantId.slice(-8)}'`;
