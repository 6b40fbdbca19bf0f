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
