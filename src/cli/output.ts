import { messageOf } from "../operations/metrics.ts";

/** Where a command writes: results to standard output, everything else to standard error. */
export type Output = {
  /** Waits while the reader is slower. @param part text, or a part of a file */
  write(part: string | Uint8Array): Promise<void>;
  note(text: string): void;
};

/** Standard output cannot be written to: its disk is full, or its reader has ended. The message is a sentence. */
export class OutputError extends Error {
  /** The reader has seen enough, such as `head`. */
  readonly isClosed: boolean;
  constructor(error: NodeJS.ErrnoException) {
    super(`The output cannot be written: ${messageOf(error)}.`);
    this.isClosed = error.code === "EPIPE";
  }
}

/** The result of a change is lost. The message says that the change was made, so that it is not repeated. */
class LostResultError extends Error {}

/**
 * Writes what a change has returned.
 * @param advice what the operator can do without the result
 * @throws LostResultError (docs/design/api-conventions.md, "Command line")
 */
export async function writeChange(
  output: Output,
  text: string,
  advice = "Check before you repeat the command.",
): Promise<void> {
  try {
    await output.write(text);
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    throw new LostResultError(`${error.message} The request was carried out. ${advice}`);
  }
}

export function processOutput(): Output {
  process.stdout.on("error", () => undefined); // The write that has failed reports it.
  process.stderr.on("error", () => undefined); // The exit code still says how the command ended.
  return {
    note: (text) => void process.stderr.write(text),
    write: (part) =>
      new Promise((resolve, reject) => {
        process.stdout.write(part, (error) => (error ? reject(new OutputError(error)) : resolve()));
      }),
  };
}

/** The results of a command for scripts. `--help` and docs/command-line.md list them too. */
export const EXIT = {
  done: 0,
  /** The service rejected the request, or it failed; standard error has the reason. */
  failed: 1,
  /** The command line or the configuration is invalid. */
  usage: 2,
  /** The database is not available, or its schema is older than this program. */
  unavailable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A value of the command line is invalid: a file that cannot be read, or a text that is not a time. */
export class UsageError extends Error {}

/** The database or the service cannot be used. The message is a sentence. */
export class ServiceUnavailableError extends Error {}
