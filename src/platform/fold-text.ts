/**
 * A text as searches compare it (docs/design/api-conventions.md, "Searching orders"): without case, accents and apostrophes, in one
 * Unicode form, with `ß` as `ss` and letters with a stroke as plain ones. Texts that look alike to a person are alike
 * here.
 */
export const foldText = (text: string): string =>
  text
    .replace(APOSTROPHES, "")
    .toLowerCase()
    .normalize("NFKD")
    .replace(MARKS, "")
    .replace(LETTERS, (letter) => PLAIN[letter] ?? letter)
    .normalize("NFC");

/** The same with umlauts as two letters, as people type them who lack the keys: `Mueller`. */
export const foldTextInTwoLetters = (text: string): string =>
  foldText(
    text
      .normalize("NFC")
      .toLowerCase()
      .replace(/[äöüøå]/g, (letter) => TWO_LETTERS[letter] ?? letter),
  );

/** Straight, curly, the letters that stand for it, and accents that are typed as such. */
const APOSTROPHES = /['’‘‛ʼʻʹ′`´＇]/g;
/** Accents of Latin, Greek and Cyrillic, points of Hebrew and of Arabic. Voicing of Japanese stays: it makes other syllables. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const LETTERS = /[ßæœøłđðþıħŧς]/g;
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ħ: "h",
  ŧ: "t",
  ς: "σ",
};
const TWO_LETTERS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };
