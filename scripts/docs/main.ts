import { buildDocumentation } from "./build.ts";

/** With `--if-changed`, as `npm ci` and `npm start` call it. A service also starts without its documentation. */
const onlyIfChanged = process.argv.includes("--if-changed");
const outcome = await buildDocumentation({ onlyIfChanged });
if (outcome === "failed" && !onlyIfChanged) process.exitCode = 1;
if (outcome === "no-packages")
  process.stderr.write("The documentation is not built: its packages are not installed (npm ci).\n");
