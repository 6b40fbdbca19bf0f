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
