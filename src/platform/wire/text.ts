/** PostgreSQL text holds no NUL, and UTF-8 no unpaired surrogate: such text could not be given back unchanged. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");

/** A number with its noun, as in "1 item" and "2 items". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
