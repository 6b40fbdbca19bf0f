import type { Money } from "../api/schema.d.ts";
import { formatLocale } from "./i18n.ts";

const DAY_MS = 86_400_000;

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Formatters are slow to make and quick to use, and a list uses them for each row. */
function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const locale = formatLocale();
  const key = JSON.stringify([locale, options]);
  const known = formatters.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formatters.set(key, known);
  return known;
}

/** A time as short as it stays clear, in the person's zone: today's without a day, this year's without a year. */
export function shortTime(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return dateFormat({ timeStyle: "short" }).format(at);
  if (at.getFullYear() === now.getFullYear())
    return dateFormat({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" }).format(at);
  return dateFormat({ dateStyle: "medium" }).format(at);
}

/** A time to the second with its zone. */
export const exactTime = (at: Date): string =>
  dateFormat({
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  }).format(at);

export const shortDay = (at: Date): string => dateFormat({ dateStyle: "medium" }).format(at);

/** A day of the API, such as `2026-11-22`, which is one in UTC. */
export const utcDay = (day: string, as: "medium" | "short" = "medium"): string =>
  dateFormat({
    ...(as === "medium" ? { dateStyle: "medium" } : { day: "numeric", month: "short" }),
    timeZone: "UTC",
  }).format(new Date(`${day}T00:00:00Z`));

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", DAY_MS],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** `5 minutes ago`, `in 2 hours`. */
export function relativeTime(at: Date, now: Date): string {
  const differenceMs = at.getTime() - now.getTime();
  const [unit, unitMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? ["second", 1_000];
  const format = new Intl.RelativeTimeFormat(formatLocale(), { numeric: "auto" });
  return format.format(Math.trunc(differenceMs / unitMs), unit);
}

/** An amount in the form of its currency. The decimal text is never turned into a number, so no cent is lost. */
export const formatMoney = ({ amount, currency }: Money): string =>
  new Intl.NumberFormat(formatLocale(), { style: "currency", currency }).format(
    amount as Intl.StringNumericLiteral, // The API writes amounts as decimal numbers.
  );

export const formatNumber = (value: number): string => new Intl.NumberFormat(formatLocale()).format(value);

/** A part of 1 in percent. Only all of it is 100 %. */
export const formatPercent = (part: number): string =>
  new Intl.NumberFormat(formatLocale(), {
    style: "percent",
    maximumFractionDigits: 1,
    roundingMode: "floor",
  }).format(part);

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A size in bytes, in the largest unit of which it has at least one. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat(formatLocale(), {
    style: "unit",
    unit: SIZES[power] ?? "byte",
    maximumSignificantDigits: 3,
  }).format(bytes / 1_000 ** power);
}

/** The name of a country in the person's language. */
export function countryName(code: string): string {
  try {
    return new Intl.DisplayNames([formatLocale()], { type: "region" }).of(code) ?? code;
  } catch {
    return code; // Not a code of a country.
  }
}
