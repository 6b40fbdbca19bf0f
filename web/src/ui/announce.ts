import { useProblemText } from "./problem-message.tsx";
import type { Tone } from "./status-badge.tsx";

const DONE_MS = 4_000;
/** What was not expected stays longer than a success: it has to be read. */
const UNEXPECTED_MS = 10_000;
/** The older ones make room, so that they never cover the page. */
const SHOWN_MAX = 3;

type Announce = {
  /** The outcome, in a few words. */
  done(message: string): void;
  /** What the page has taken away from the person, and why. */
  ended(message: string): void;
  failed(error: unknown): void;
};

type Message = { readonly id: number; readonly text: string; readonly tone: Tone };

let shown: readonly Message[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(messages: readonly Message[]): void {
  shown = messages;
  for (const listener of listeners) listener();
}

const close = (id: number): void => set(shown.filter((message) => message.id !== id));

/** A message that is shown already is not shown twice. */
function show(text: string, tone: Tone, lastsMs: number): void {
  lastId += 1;
  const id = lastId;
  set([...shown.filter((message) => message.text !== text), { id, text, tone }].slice(-SHOWN_MAX));
  setTimeout(() => close(id), lastsMs);
}

/** Announces what happened at the lower edge of the page, over whichever page is shown then. */
export function useAnnounce(): Announce {
  const textOf = useProblemText();
  return {
    done: (message) => show(message, "success", DONE_MS),
    ended: (message) => show(message, "warning", UNEXPECTED_MS),
    failed: (error) => show(textOf(error), "danger", UNEXPECTED_MS),
  };
}

/** The messages that are shown now, for `Announcements`. */
export const announced = {
  current: () => shown,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  close,
};
