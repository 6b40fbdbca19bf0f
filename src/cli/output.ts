import { messageOf } from "../monitoring/error-message.ts";

/** Where a command writes: results to standard output, everything else to standard error. */
export type Output = {
  /** Waits while the reader is slower. */
  write(text: string): Promise<void>;
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
export class LostResultError extends Error {}

/**
 * Writes what a change has returned.
 * @param advice what the operator can do without the result
 * @throws LostResultError (decision 0206)
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
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(new OutputError(error)) : resolve()));
      }),
  };
}
