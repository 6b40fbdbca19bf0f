import { isProblem, PartnerOrdersError, UnexpectedResponseError } from "./errors.ts";
import type { Event } from "./generated/types.ts";
import type { Page } from "./list.ts";
import { pause, type Transport } from "./transport.ts";

/** Where and how to follow the feed. */
export type FollowOptions = {
  /** The last stored cursor. Without one, from the oldest event on. */
  readonly cursor?: string | null;
  /** Ends it after the current batch. */
  readonly signal?: AbortSignal;
  /** Only events about this order: its id, or your `externalOrderId`. */
  readonly orderId?: string;
  /** Only events of this type. */
  readonly type?: Event["type"];
  /** Milliseconds between two reads at the end of the feed. Default: 5 000. */
  readonly pollMs?: number;
};

/** A batch of the feed. */
export type FollowedEvents = {
  /** At least one event, oldest first. Those of an order are in its order. */
  readonly events: readonly Event[];
  /** The cursor to continue with, once these events are stored. */
  readonly cursor: string;
};

const PAUSE_MS_MAX = 60_000;

/** See `Events.follow`. */
export async function* follow(
  api: Transport,
  { cursor: from, signal, orderId, type, pollMs = 5_000 }: FollowOptions,
): AsyncGenerator<FollowedEvents, void> {
  let cursor = from ?? undefined;
  let failures = 0;
  const own = signal && { signal };
  while (!signal?.aborted) {
    try {
      const page = await api.request<Page<Event>>(
        "listEvents",
        { query: { limit: 100, orderId, type, cursor } },
        own,
      );
      failures = 0;
      if (page.nextCursor !== null) {
        cursor = page.nextCursor;
        if (page.data.length > 0) yield { events: page.data, cursor };
      } else await pause(pollMs, signal);
    } catch (error) {
      if (signal?.aborted) return;
      if (!passes(error)) throw error;
      failures += 1;
      await pause(Math.min(pollMs * 2 ** (failures - 1), PAUSE_MS_MAX), signal).catch(() => {});
    }
  }
}

/** Whether time alone may end the failure. */
export function passes(error: unknown): boolean {
  if (isProblem(error)) return error.status === 429 || error.status >= 500;
  if (error instanceof UnexpectedResponseError) return error.status >= 500;
  return error instanceof PartnerOrdersError;
}
