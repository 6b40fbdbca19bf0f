import { formatLocale } from "./format.ts";

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A time span in its two largest units: `2 hr 5 min`, `1 day 3 hr`, `340 ms`. */
export function formatDuration(ms: number): string {
  const index = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const unit = UNITS[index];
  if (unit === undefined) return inUnit(Math.round(ms), "millisecond");
  const [name, unitMs] = unit;
  const next = UNITS[index + 1];
  if (next === undefined) return inUnit(Math.round(ms / 100) / 10, name);
  // Rounded in the smaller unit first: 59 minutes and 59.9 seconds are an hour.
  const rounded = Math.round(ms / next[1]) * next[1];
  if (rounded % unitMs === 0) return inUnit(rounded / unitMs, name);
  return `${inUnit(Math.floor(rounded / unitMs), name)} ${inUnit((rounded % unitMs) / next[1], next[0])}`;
}

const inUnit = (value: number, unit: string): string =>
  new Intl.NumberFormat(formatLocale(), { style: "unit", unit, unitDisplay: "short" }).format(value);
