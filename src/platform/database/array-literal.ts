/**
 * An array parameter in PostgreSQL's form, for values that need no quotes, such as UUIDs, numbers and ISO times. The
 * driver would search every element for characters to escape, at a higher cost than everything else.
 */
export const plainArray = (values: readonly (string | number)[]): string => `{${values.join()}}`;
