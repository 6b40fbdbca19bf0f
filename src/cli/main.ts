import "../../bin/needs-node.js"; // First: a newer import would fail with a stack.
import { EnvFileError, readEnvFile } from "../platform/environment.ts";
import { runCommandLine } from "./command-line.ts";
import { EXIT, processOutput } from "./output.ts";

const output = processOutput();
try {
  readEnvFile();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment: process.env,
    output,
    input: process.stdin,
  });
} catch (error) {
  if (!(error instanceof EnvFileError)) throw error;
  output.note(`${error.message}\n`);
  process.exitCode = EXIT.usage;
}
