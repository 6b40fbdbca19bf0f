/** What the command line names cannot be used: a file that cannot be read, a time that is none. */
export class UsageError extends Error {}

/** Failures to connect by several addresses have their words inside. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
