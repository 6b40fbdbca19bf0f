/** A text as a search among names compares it: as lists of the service do (a test compares them), for letters of Europe. */
export const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f'`\u2018\u2019]/g, "")
    .replace(/[ßæœøłđð]/g, (letter) => PLAIN[letter] ?? letter)
    .normalize("NFC");

const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
};
