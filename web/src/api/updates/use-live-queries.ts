import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { throttled } from "./throttled.ts";
import type { Update } from "./update.ts";
import { updateStream } from "./update-stream.ts";

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
