import { runCommandLine } from "./command-line.ts";
import { processOutput } from "./output.ts";

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  output: processOutput(),
  input: process.stdin,
});
