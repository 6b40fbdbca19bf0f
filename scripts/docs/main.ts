import { buildDocumentation } from "./build.ts";

/**
 * With `--if-changed`, as `npm ci` and `npm start` call it. A service also starts without its documentation.
 * With `--public`: the part for partners alone.
 */
const onlyIfChanged = process.argv.includes("--if-changed");
const audience = process.argv.includes("--public") ? "partners" : "all";
const outcome = await buildDocumentation({ onlyIfChanged, audience });
if (outcome === "failed" && !onlyIfChanged) process.exitCode = 1;
if (outcome === "no-packages")
  process.stderr.write("The documentation is not built: its packages are not installed (npm ci).\n");
