import "../bin/needs-node.js"; // First: a newer import would fail with a stack.
import { setImmediate } from "node:timers/promises";

/**
 * The entry of the service. It handles signals before it loads anything else, which takes a second: a process that is
 * stopped at any time exits with 0.
 */
const stopping = new AbortController();
let isLoaded = false;
// Not `once`: Ctrl-C reaches the process twice, from the terminal and from npm, and the second signal would kill it.
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.on(signal, () => {
    if (!isLoaded) process.exit(0); // Nothing is started.
    stopping.abort(signal);
  });

const { runService } = await import("./service/run-service.ts");
// Node reports a signal that arrived during the loading in the next round of its event loop. The second of these ends it.
await setImmediate();
await setImmediate();
isLoaded = true;
await runService(stopping.signal);
