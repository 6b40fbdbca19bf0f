/** What the program ends with (docs/partners/command-line.md, "Exit codes"). */
export const EXIT = {
  ok: 0,
  /** The service rejected a request, `verify` found no genuine request, or something else failed. */
  rejected: 1,
  /** The command line or its configuration is wrong. Nothing was sent. */
  usage: 2,
  /** No response, or none of the service. A change may have happened or not. */
  unreachable: 3,
  /** What was waited for did not happen in time. */
  timeout: 4,
  /** The program that was run failed. */
  command: 5,
} as const;

/** The caller can correct it. Its message says how. */
export class UsageError extends Error {}

/** The command ends with this code, and has said why. */
export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message = "") {
    super(message);
    this.exitCode = exitCode;
  }
}
