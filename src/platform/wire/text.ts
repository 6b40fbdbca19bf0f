/** PostgreSQL text cannot contain NUL, nor UTF-8 an unpaired surrogate. Such text could not be returned unchanged. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");

/** A number with its noun, as in "1 item" and "2 items". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
