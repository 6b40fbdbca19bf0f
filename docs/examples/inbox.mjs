import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * Stores events in a file until your program has processed them, one line of JSON for each change. In production, use a
 * table of your database, with the event's id as its primary key.
 */
export function openInbox(path) {
  const file = openSync(path, "a+");
  const known = new Set();
  const waiting = new Map();
  let cursor = null;

  function apply({ event, done, newCursor }) {
    if (event) known.add(event.id) && waiting.set(event.id, event);
    if (done) waiting.delete(done);
    if (newCursor) cursor = newCursor;
  }

  function append(change) {
    writeSync(file, `${JSON.stringify(change)}\n`);
    fsyncSync(file); // The response says that the event is stored, so it must be on the disk.
    apply(change);
  }

  const text = readFileSync(path, "utf8");
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  ftruncateSync(file, Buffer.byteLength(complete)); // A crash can leave half a line.
  for (const line of complete.split("\n")) if (line !== "") apply(JSON.parse(line));

  return {
    /** False if the event was already stored. */
    add(event) {
      if (known.has(event.id)) return false;
      append({ event });
      return true;
    },
    /** The oldest event that is not processed, or null. */
    next: () => waiting.values().next().value ?? null,
    done: (event) => append({ done: event.id }),
    cursor: () => cursor,
    keepCursor: (newCursor) => append({ newCursor }),
    close: () => closeSync(file),
  };
}
