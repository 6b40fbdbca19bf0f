import { InvalidArgumentError } from "commander";

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time, or how long ago it was: `90m`, `2h`, `1d`. */
export function timeOf(text: string): string {
  const [, number, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const time = number === undefined ? Date.parse(text) : Date.now() - Number(number) * (UNITS_MS[unit] ?? 0);
  if (Number.isNaN(time) || !/^\d/.test(text))
    throw new InvalidArgumentError("It must be a time such as 2026-11-28T09:00:00Z, or 90m, 2h, 1d.");
  return new Date(time).toISOString();
}
