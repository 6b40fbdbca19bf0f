// A text as searches compare it (docs/design/api-conventions.md, "Folded texts"): without case, accents and apostrophes, in one Unicode
// form, with `ß` as `ss` and letters with a stroke as plain ones. Texts that look alike to a person are alike here. The
// rule stands here for both sides: in TypeScript for what a person types, and in SQL for what is stored.

export const foldText = (text: string): string =>
  isPlain(text) ? text.toLowerCase().replace(/['`]/g, "") : fold(decomposed(text));

/** The same with umlauts as two letters, as people type them who lack the keys: `Mueller`. */
export const foldTextInTwoLetters = (text: string): string =>
  isPlain(text) ? foldText(text) : fold(replaceAll(decomposed(text), IN_TWO_LETTERS));

/** Each creation of an order folds some texts, and most of them have ASCII alone: a tenth of the time. */
const isPlain = (text: string): boolean => !/[^ -~]/.test(text);

const decomposed = (text: string): string => text.normalize("NFKD").toLowerCase();

const fold = (text: string): string => replaceAll(text.replace(DROPPED_ALL, ""), LETTERS).normalize("NFC");

const replaceAll = (text: string, pairs: Pairs): string =>
  pairs.reduce((before, [from, to]) => before.replaceAll(from, to), text);

/** For a `folded` column: alternatives, each `%` and a folded part of the text and `%`. */
export type SearchPatterns = readonly string[];

/** What finds texts that contain a text. `Müller` also finds `Mueller`. Apostrophes alone, of which nothing is compared, find nothing. */
export const searchPatterns = (text: string): SearchPatterns =>
  [...new Set([foldText(text), foldTextInTwoLetters(text)])]
    .filter((folded) => folded.trim() !== "")
    .map((folded) => `%${folded.replace(/[%_\\]/g, "\\$&")}%`);

/**
 * The folded text of an SQL expression, and in a second line that with umlauts as two letters. Compared by
 * `like any ($n::text[])` with `searchPatterns`. Most texts are ASCII, whose rule is short and takes a tenth of the time. It is no SQL
 * function, because each node of Citus would need it.
 */
export function folded(expression: string): string {
  const text = `lower(normalize(${expression}, NFKD))`;
  const both = `${text} || E'\\n' || ${IN_TWO_LETTERS.reduce(replacedInSql, text)}`;
  const without = `regexp_replace(${both}, '${DROPPED.replaceAll("'", "''")}', '', 'g')`;
  return `case when octet_length(${expression}) = char_length(${expression})
    then lower(translate(${expression}, '''\`', '') collate "C")
    else normalize(${LETTERS.reduce(replacedInSql, without)}, NFC) end`;
}

const replacedInSql = (text: string, [from, to]: Pair): string => `replace(${text}, '${from}', '${to}')`;

type Pair = readonly [from: string, to: string];
type Pairs = readonly Pair[];

/**
 * A pattern of both languages. Apostrophes: straight, curly, the letters that stand for it, and accents that are typed as such; `´`
 * is decomposed into two signs. Accents of Latin, Greek and Cyrillic, points of Hebrew and of Arabic. Voicing of Japanese
 * stays: it makes other syllables.
 */
const DROPPED =
  " \\u0301|['`\\u2018\\u2019\\u201b\\u02b9\\u02bb\\u02bc\\u2032\\u0300-\\u036f\\u0591-\\u05c7\\u064b-\\u065f\\u0670]";
const DROPPED_ALL = new RegExp(DROPPED, "g");
const LETTERS: Pairs = [
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["ł", "l"],
  ["đ", "d"],
  ["ð", "d"],
  ["þ", "th"],
  ["ı", "i"],
  ["ħ", "h"],
  ["ŧ", "t"],
  ["ς", "σ"],
];
/** Decomposed. */
const IN_TWO_LETTERS: Pairs = [
  ["a\u0308", "ae"],
  ["o\u0308", "oe"],
  ["u\u0308", "ue"],
  ["a\u030a", "aa"],
  ["ø", "oe"],
];
