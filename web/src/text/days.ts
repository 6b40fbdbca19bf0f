const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads a day of the address. Undefined if it is none. */
export const day = (text: string): string | undefined =>
  DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;

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
