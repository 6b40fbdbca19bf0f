/** PostgreSQL text holds no NUL, and UTF-8 no unpaired surrogate: such text could not be given back unchanged. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");
