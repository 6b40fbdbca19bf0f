/** A value of the command line is invalid: a file that cannot be read, or a text that is not a time. */
export class UsageError extends Error {}

/** The database or the service cannot be used. The message is a sentence. */
export class UnavailableError extends Error {}
