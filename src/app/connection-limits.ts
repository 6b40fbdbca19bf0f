import type { Logger } from "pino";
import { readOpenFilesMax } from "../platform/environment/open-files.ts";
import { atMostEvery } from "../platform/log.ts";
import { SECOND_MS } from "../platform/time.ts";

/**
 * The part of the process's open files that the connections of each listener may use. The rest is for webhooks, the
 * database and files. What partners use, the back office and health never lack.
 */
const PARTS = { partners: 0.5, "back-office": 0.1 } as const;

type LimitedServer = {
  maxConnections: number;
  on(event: "drop", listener: () => void): unknown;
};

/** Connections that a listener may have at the same time. */
export const connectionsMax = (listener: keyof typeof PARTS, openFiles = readOpenFilesMax()): number =>
  Math.floor(PARTS[listener] * openFiles);

/** Closes further connections at once, and logs that at most once a second. */
export function limitConnections(server: LimitedServer, max: number, log: Logger): void {
  server.maxConnections = max;
  const logRefused = atMostEvery(SECOND_MS, (_: undefined, count) =>
    log.warn({ count, max }, "connections refused: the listener has its maximum"),
  );
  server.on("drop", () => logRefused(undefined));
}
