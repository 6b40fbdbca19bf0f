/**
 * The widths of bars and spaces of the symbols 0 to 106, in modules, as ISO/IEC 15417 has them. Each has three bars and
 * three spaces, 11 modules together; the last one, Stop, has another bar.
 */
const SYMBOLS =
  "212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112".split(
    " ",
  );
const START_B = 104;
const START_C = 105;
const STOP = 106;
const FIRST = 32;

/** A bar of a barcode: where it begins and how wide it is, in modules. */
export type Bar = { readonly at: number; readonly width: number };

/**
 * The values of the symbols of a text, with start, checksum and stop: an even number of digits in code set C, two in a symbol, and
 * anything else in code set B. Null if a sign is not in it.
 */
export function symbolsOf(text: string): readonly number[] | null {
  const isPairs = text.length >= 4 && /^(?:\d\d)+$/.test(text);
  const values = isPairs
    ? (text.match(/\d\d/g) ?? []).map(Number)
    : [...text].map((sign) => (sign.codePointAt(0) ?? 0) - FIRST);
  if (values.length === 0 || values.some((value) => value < 0 || (!isPairs && value > 94))) return null;
  const start = isPairs ? START_C : START_B;
  const checksum = values.reduce((sum, value, index) => sum + value * (index + 1), start) % 103;
  return [start, ...values, checksum, STOP];
}

/** The bars of a text as Code 128, and the width of all in modules. Null if the text cannot be drawn. */
export function barsOf(text: string): { readonly bars: readonly Bar[]; readonly width: number } | null {
  const symbols = symbolsOf(text);
  if (symbols === null) return null;
  const widths = symbols.flatMap((symbol) => [...(SYMBOLS[symbol] ?? "")].map(Number));
  const bars: Bar[] = [];
  let at = 0;
  widths.forEach((width, index) => {
    if (index % 2 === 0) bars.push({ at, width }); // Bars and spaces alternate, and a bar is first.
    at += width;
  });
  return { bars, width: at };
}
