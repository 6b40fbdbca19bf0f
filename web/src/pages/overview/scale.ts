/** Values of an axis from 0 on, in equal round steps: so few that the greatest is not far below the last. */
export function axisTicks(greatest: number): readonly number[] {
  const step = roundStep(Math.max(1, greatest) / 3);
  const count = Math.max(1, Math.ceil(greatest / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** 1, 2 or 5 times a power of ten, and not less. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}
