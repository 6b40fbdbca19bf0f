/**
 * An amount as a person types it, as the API takes it. In many countries the decimal sign is a comma. With three digits
 * after it, it may separate thousands, so the service rejects it.
 */
export const typedAmount = (text: string): string => text.trim().replace(/^(\d+),(\d{1,2})$/, "$1.$2");
