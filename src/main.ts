import "../bin/needs-node.js"; // First: a newer import would fail with a stack.
import { setImmediate } from "node:timers/promises";

/**
 * The entry of the service. It handles signals before it loads anything else, which takes a second: a process that is
 * stopped at any time exits with 0.
 */
const stopping = new AbortController();
let isLoaded = false;
let stoppedAtMs = 0;
/** Ctrl-C reaches the process twice, from the terminal and from npm. Later it is a second Ctrl-C, of a person who does not wait. */
const SAME_SIGNAL_MS = 1_000;

function stop(reason: string): void {
  if (!isLoaded) process.exit(0); // Nothing is started.
  if (reason === "SIGINT" && stopping.signal.aborted && performance.now() - stoppedAtMs > SAME_SIGNAL_MS)
    process.exit(130);
  if (!stopping.signal.aborted) stoppedAtMs = performance.now();
  stopping.abort(reason);
}
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
process.on("disconnect", () => stop("supervisor gone")); // Of a process that was started by one that supervises it.

const { runService } = await import("./service/run-service.ts");
// Node reports a signal that arrived during the loading in the next round of its event loop. The second of these ends it.
await setImmediate();
await setImmediate();
isLoaded = true;
await runService(stopping.signal);
