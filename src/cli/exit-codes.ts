/** What a script learns of a command. `--help` and docs/command-line.md tell the same. */
export const EXIT = {
  done: 0,
  /** Refused by the service's rules, or failed; standard error says why. */
  refused: 1,
  /** The command line or the configuration is invalid. */
  usage: 2,
  /** The database is out of reach, or its schema is older than this program. */
  outOfReach: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
