/** A text as a search among names compares it: what lists of the service ignore too, in short. */
export const folded = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}'’`]/gu, "")
    .replaceAll("ß", "ss");
