import type { Money } from "../api/schema.d.ts";

const DAY_MS = 86_400_000;

let language = "en";

/** The language of the console has changed. */
export function setFormatLanguage(next: string): void {
  language = next;
}

/** The tag for formats: the person's own regional form of the language if the browser names one. */
export const formatLocale = (): string =>
  navigator.languages.find((tag) => tag.split("-")[0] === language && isWellFormed(tag)) ?? language;

/** Browsers pass on what the system is set to, also what formats reject, such as `en-US@posix`. */
function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Formatters are slow to make and quick to use, and a list uses them for each row. */
function cached<Options, Format>(
  make: (locale: string, options: Options) => Format,
): (of: Options) => Format {
  const formats = new Map<string, Format>();
  return (options) => {
    const key = JSON.stringify([formatLocale(), options]);
    const known = formats.get(key) ?? make(formatLocale(), options);
    formats.set(key, known);
    return known;
  };
}

const dateFormat = cached<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(
  (locale, options) => new Intl.DateTimeFormat(locale, options),
);
const numberFormat = cached<Intl.NumberFormatOptions, Intl.NumberFormat>(
  (locale, options) => new Intl.NumberFormat(locale, options),
);
const relativeFormat = cached<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(
  (locale, options) => new Intl.RelativeTimeFormat(locale, options),
);
const namesFormat = cached<Intl.DisplayNamesOptions, Intl.DisplayNames>(
  (locale, options) => new Intl.DisplayNames(locale, options),
);
const listFormat = cached<Intl.ListFormatOptions, Intl.ListFormat>(
  (locale, options) => new Intl.ListFormat(locale, options),
);

/** A time as short as it stays clear, in the person's zone: today's without a day, this year's without a year. */
export function shortTime(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return dateFormat({ timeStyle: "short" }).format(at);
  // The time in the same form as today's: with the day in one format, some languages write it in another.
  if (at.getFullYear() === now.getFullYear())
    return `${dateFormat({ day: "numeric", month: "short" }).format(at)}, ${dateFormat({ timeStyle: "short" }).format(at)}`;
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

/** From a time to another one, which is not included: `1 – 30 Nov 2026` if both are the beginning of a day. */
export function shortPeriod(from: Date, to: Date): string {
  if (!isMidnight(from) || !isMidnight(to) || to <= from)
    return dateFormat({ dateStyle: "medium", timeStyle: "short" }).formatRange(from, to);
  return dateFormat({ dateStyle: "medium" }).formatRange(from, new Date(to.getTime() - 1));
}

const isMidnight = (at: Date): boolean => at.getHours() + at.getMinutes() + at.getSeconds() === 0;

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
  return relativeFormat({ numeric: "auto" }).format(Math.trunc(differenceMs / unitMs), unit);
}

/**
 * An amount in the form of its currency, with the decimals that the API writes: browsers have others for some currencies, such as none
 * for HUF, and would round. The decimal text is never turned into a number, so no cent is lost. The minus is a true one, as wide as
 * a digit.
 */
export function formatMoney({ amount, currency }: Money): string {
  const decimals = /\.(\d+)$/.exec(amount)?.[1]?.length ?? 0;
  return numberFormat({
    style: "currency",
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
    .formatToParts(amount as Intl.StringNumericLiteral) // The API writes amounts as decimal numbers.
    .map(({ type, value }) => (type === "minusSign" ? value.replace("-", "−") : value))
    .join("");
}

export const formatNumber = (value: number): string => numberFormat({}).format(value);

/** The signs of `formatNumber`, for fields: a pasted `1.000` is a thousand in German, not one. */
export function numberSigns(): { readonly thousandSeparator: string; readonly decimalSeparator: string } {
  const parts = numberFormat({}).formatToParts(1_234_567.5);
  const signOf = (wanted: "group" | "decimal") => parts.find(({ type }) => type === wanted)?.value;
  return { thousandSeparator: signOf("group") ?? ",", decimalSeparator: signOf("decimal") ?? "." };
}

/** A part of 1 in percent. Only all of it is 100 %. */
export const formatPercent = (part: number): string =>
  numberFormat({
    style: "percent",
    maximumFractionDigits: 1,
    roundingMode: "floor",
  }).format(part);

/** A weight of the API, in grams or in kilograms. */
export const formatWeight = (grams: number): string =>
  grams < 1_000
    ? numberFormat({ style: "unit", unit: "gram" }).format(grams)
    : numberFormat({ style: "unit", unit: "kilogram", maximumFractionDigits: 3 }).format(grams / 1_000);

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A size in bytes, in the largest unit of which it has at least one. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(bytes) / 3));
  return numberFormat({
    style: "unit",
    unit: SIZES[power] ?? "byte",
    maximumSignificantDigits: 3,
  }).format(bytes / 1_000 ** power);
}

/** A limit of the service in bytes. It is a power of two, so units of 1,000 would not name it exactly. */
export const formatLimitBytes = (bytes: number): string =>
  bytes < 1_048_576 ? `${formatNumber(bytes / 1_024)} KiB` : `${formatNumber(bytes / 1_048_576)} MiB`;

/** `A`, `A or B`, `A, B, or C`. */
export const formatAlternatives = (texts: readonly string[]): string =>
  listFormat({ type: "disjunction" }).format(texts);

/** The name of a country in the person's language. */
export function countryName(code: string): string {
  try {
    return namesFormat({ type: "region" }).of(code) ?? code;
  } catch {
    return code; // Not a code of a country.
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** Reads a day of the address. Undefined if it is none: of the 30th of February, a `Date` makes the 2nd of March. */
export function day(text: string): string | undefined {
  if (!DAY.test(text)) return undefined;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text) ? text : undefined;
}

/** Reads a time of the address, with its zone. Undefined if it is none. */
export const time = (text: string): string | undefined =>
  TIME.test(text) && day(text.slice(0, 10)) !== undefined && !Number.isNaN(Date.parse(text))
    ? text
    : undefined;

/** The day of a time in the person's zone, such as `2026-11-22`. */
export const localDay = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** The first moment of a day in the person's zone. */
export const startOf = (text: string): string => new Date(`${text}T00:00:00`).toISOString();

/** The first moment of the month of a day in the person's zone. Without a day, of the present month. */
export function startOfMonth(text: string | undefined): string {
  const at = text === undefined ? new Date() : new Date(`${text}T00:00:00`);
  return new Date(at.getFullYear(), at.getMonth()).toISOString();
}

/** The first moment after a day in the person's zone, which may be one with 23 or 25 hours. */
export function endOf(text: string): string {
  const next = new Date(`${text}T00:00:00`);
  next.setDate(next.getDate() + 1);
  return next.toISOString();
}

const DURATION_UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A time span in its two largest units: `2 hr 5 min`, `1 day 3 hr`, `340 ms`. */
export function formatDuration(ms: number): string {
  const index = DURATION_UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const unit = DURATION_UNITS[index];
  if (unit === undefined) return inUnit(Math.round(ms), "millisecond");
  const [name, unitMs] = unit;
  const next = DURATION_UNITS[index + 1];
  if (next === undefined) return inUnit(Math.round(ms / 100) / 10, name);
  // Rounded in the smaller unit first: 59 minutes and 59.9 seconds are an hour.
  const rounded = Math.round(ms / next[1]) * next[1];
  if (rounded % unitMs === 0) return inUnit(rounded / unitMs, name);
  return `${inUnit(Math.floor(rounded / unitMs), name)} ${inUnit((rounded % unitMs) / next[1], next[0])}`;
}

const inUnit = (value: number, unit: string): string =>
  new Intl.NumberFormat(formatLocale(), { style: "unit", unit, unitDisplay: "short" }).format(value);

/** Headers as lines. One that is not known any more is left out. */
export const headerText = (headers: Readonly<Record<string, string | null>>): string =>
  Object.entries(headers)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
    .join("\n");
