import { useSyncExternalStore } from "react";

/** Texts such as "5 minutes ago" stay true on a page that is open for long. */
const EVERY_MS = 15_000;

const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  timer ??= setInterval(() => {
    for (const read of readers) read();
  }, EVERY_MS);
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Draws what uses it again every 15 seconds. One timer serves all of a page. */
export const useTicks = (): void => {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / EVERY_MS));
};
