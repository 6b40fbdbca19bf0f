#!/usr/bin/env node
// An older Node fails at what the other files use, so they are loaded only afterwards.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `@partner-orders/dev needs Node 22.19 or later. This is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  const { runCommandLine } = await import("./command-line.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2));
}
