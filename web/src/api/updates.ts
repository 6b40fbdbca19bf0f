import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { api } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import type { Update } from "./update.ts";

/** Whether something has been away for a while: a short absence is not reported. */
class LostState {
  readonly #afterMs: number;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLost = false;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** It is away. If it was before, the time counts since then. */
  begin(): void {
    if (this.#timer !== null || this.#isLost) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#set(true);
    }, this.#afterMs);
  }

  /** It is back, or is not wanted any more. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#set(false);
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly current = (): boolean => this.#isLost;

  #set(isLost: boolean): void {
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    for (const listener of this.#listeners) listener();
  }
}

type Listener = (update: Update) => void;

const RETRY_MS = 2_000;
const RETRY_MAX_MS = 60_000;
/** The service writes something every 15 seconds. A network that is gone may say nothing. */
const SILENCE_MAX_MS = 40_000;
const START_MS = 5_000;
/** A stream that is back before this was not missed: a deploy, or a network that changes. */
const LOST_MS = 10_000;
/** A tab that was hidden for a moment keeps its stream. */
const HIDDEN_MS = 5_000;

/**
 * The stream of this tab. It is open while a page listens and the tab is visible: a browser opens six connections to a host
 * only (docs/design/console.md, "Live updates"). After each connection the pages read again, because nothing is repeated.
 */
class UpdateStream {
  /** True if the stream is wanted, and was away for so long that pages may show what is old. */
  readonly lost = new LostState(LOST_MS);
  readonly #listeners = new Set<Listener>();
  #open: AbortController | null = null;
  #failures = 0;
  #wasOpen = false;

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#follow();
      else setTimeout(() => document.hidden && this.#close(), HIDDEN_MS);
    });
    // A laptop that wakes up, or a network that is back.
    window.addEventListener("online", () => this.#again());
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    this.#follow();
    return () => {
      this.#listeners.delete(listener);
      // The next page may listen too.
      setTimeout(() => this.#listeners.size === 0 && this.#close(), RETRY_MS);
    };
  };

  #again(): void {
    this.#close();
    this.#failures = 0;
    this.#follow();
  }

  #close(): void {
    this.#open?.abort();
    this.#open = null;
    this.lost.end();
  }

  #follow(): void {
    if (this.#open !== null || this.#listeners.size === 0 || document.hidden) return;
    const opened = new AbortController();
    this.#open = opened;
    this.lost.begin();
    void this.#read(opened.signal).finally(() => {
      if (this.#open !== opened) return; // Closed on purpose.
      const delayMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      // Not all pages come back in the same moment.
      setTimeout(
        () => {
          if (this.#open !== opened) return;
          this.#open = null;
          this.#follow();
        },
        delayMs * (0.75 + Math.random() / 2),
      );
    });
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      const { data, response } = await api.GET("/api/updates", { parseAs: "stream", signal });
      if (!response.ok || !data) return this.#rejected(response.status);
      for await (const { event, data: members } of messagesIn(data, SILENCE_MAX_MS)) {
        this.#failures = 0;
        this.lost.end();
        if (event === "changed")
          this.#report(members as Exclude<Update, null>); // The description says so.
        else if (event === "reload" || (event === "ready" && !this.#isStart())) this.#report(null);
      }
    } catch (error) {
      // The network, or the service, is away. Pages show that when they read, and the frame if it lasts.
      if (!(error instanceof ApiProblem || error instanceof TypeError || signal.aborted)) throw error;
    }
  }

  /** Too many streams, or no role that has one: the next attempt would get the same response. */
  #rejected(status: number): void {
    if (status >= 500) return;
    this.#failures = Math.max(this.#failures, 5);
    this.lost.end();
  }

  /** The first stream of a page that has just been loaded, with all its data. */
  #isStart(): boolean {
    const isFirst = !this.#wasOpen;
    this.#wasOpen = true;
    return isFirst && performance.now() < START_MS;
  }

  #report(update: Update): void {
    for (const listener of this.#listeners) listener(update);
  }
}

export const updateStream = new UpdateStream();

type Message = { readonly event: string; readonly data: unknown };

/** The named messages of a stream of server-sent events, as they arrive. Ends after a silence, comments included. */
async function* messagesIn(body: ReadableStream<Uint8Array>, silenceMaxMs: number): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (;;) {
    // A stream that was aborted cannot be canceled as well: without the end of the timer, that would be an error later.
    const silence = setTimeout(() => void reader.cancel(), silenceMaxMs);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const event = /^event: (.*)$/m.exec(message)?.[1];
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

/** Between two readings of one page, unless it says otherwise. */
const READ_EVERY_MS = 3_000;

type LiveQuery = { readonly queryKey: QueryKey };

/**
 * Reads these queries again when an update concerns them, at most once in some seconds however much changes. Queries that
 * differ in their parameters share the beginning of their keys.
 * @param concerns whether an update concerns the page
 */
export function useLiveQueries(
  queries: readonly LiveQuery[],
  concerns: (update: Exclude<Update, null>) => boolean,
  everyMs = READ_EVERY_MS,
): void {
  const queryClient = useQueryClient();
  const readNow = useEffectEvent(() => {
    for (const { queryKey } of queries) void queryClient.invalidateQueries({ queryKey });
  });
  const isConcerned = useEffectEvent(concerns);
  useEffect(() => {
    const read = throttled(() => readNow(), everyMs);
    const unsubscribe = updateStream.subscribe((update) => {
      if (update === null || isConcerned(update)) read.call();
    });
    return () => {
      unsubscribe();
      read.cancel();
    };
  }, [everyMs]);
}

/** Calls `run` at once, and then at most once in `everyMs`: the last of several calls is made late, not lost. */
export function throttled(run: () => void, everyMs: number): { call(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isWaiting = false;
  const start = (): void => {
    run();
    timer = setTimeout(() => {
      timer = null;
      if (!isWaiting) return;
      isWaiting = false;
      start();
    }, everyMs);
  };
  return {
    call: () => {
      if (timer === null) start();
      else isWaiting = true;
    },
    cancel: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      isWaiting = false;
    },
  };
}
