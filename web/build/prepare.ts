import { buildConsole } from "./build-console.ts";

/** `npm ci` and `npm start` run this. It builds only what has changed. */
const outcome = await buildConsole();
if (outcome === "no-packages")
  process.stderr.write("The web console is not built: its packages are not installed (npm ci).\n");
