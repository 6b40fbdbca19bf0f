import { once } from "node:events";
import { presentProblem } from "./present.ts";

type Json = Readonly<Record<string, unknown>>;

/** Where a command writes: results to standard output, everything else to standard error. */
export type Output = {
  /** Waits while the reader is slower. */
  write(text: string): Promise<void>;
  note(text: string): void;
  /** A problem document, as words or as it is. */
  problem(document: Json, json: boolean): void;
};

/** A reader that has seen enough, such as `head`, ends the command quietly. */
export function createOutput(): Output {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const note = (text: string): void => void process.stderr.write(text);
  return {
    note,
    write: async (text) => {
      if (!process.stdout.write(text)) await once(process.stdout, "drain");
    },
    problem: (document, json) => note(json ? `${JSON.stringify(document)}\n` : presentProblem(document)),
  };
}
