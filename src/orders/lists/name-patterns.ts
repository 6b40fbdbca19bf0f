/** What a text that was searched for can be the beginning of: see `namePatterns`. */
export type NamePattern = {
  /** The beginning of the last name, or of the last name, a space and the first name. */
  readonly start: string;
  /** The beginning of the first name. Empty: any. */
  readonly first: string;
};

/** Words of a text in which a first and a last name are looked for. */
const WORDS_MAX = 6;

/**
 * How a searched text can name a person: "lovelace ada" as it is, and "ada love" as a first and a last name, with the split
 * after each word. A comma is a space.
 */
export function namePatterns(text: string): NamePattern[] {
  const words = text.split(/[\s,]+/u).filter((word) => word !== "");
  const splits = words.length > WORDS_MAX ? [] : words.slice(1).map((_, index) => index + 1);
  return [
    ...(words.length === 0 ? [] : [{ start: words.join(" "), first: "" }]),
    ...splits.map((at) => ({ start: words.slice(at).join(" "), first: words.slice(0, at).join(" ") })),
  ];
}

/** Sorts after every text that begins with `start`, byte by byte: the last character there is follows it. */
export const afterAll = (start: string): string => `${start}\u{10ffff}`;
