#!/usr/bin/env node
import { runCommandLine } from "./command-line.ts";

// A reader that has seen enough, such as `head`, closes the output.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});
process.exitCode = await runCommandLine(process.argv.slice(2));
