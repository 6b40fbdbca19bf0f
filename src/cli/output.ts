import { once } from "node:events";

/** Where a command writes: results to standard output, everything else to standard error. */
export type Output = {
  /** Waits while the reader is slower. */
  write(text: string): Promise<void>;
  note(text: string): void;
};

/** A reader that has seen enough, such as `head`, ends the command quietly. */
export function processOutput(): Output {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    note: (text) => void process.stderr.write(text),
    write: async (text) => {
      if (!process.stdout.write(text)) await once(process.stdout, "drain");
    },
  };
}
