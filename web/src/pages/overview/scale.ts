/** The value at the top of an axis for these values: 2, 4 or 10 times a power of ten, so that its half is a whole number. */
export function axisTop(greatest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, greatest)));
  const top = [1, 2, 4, 10].find((factor) => factor * power >= greatest) ?? 10;
  return Math.max(2, top * power);
}
