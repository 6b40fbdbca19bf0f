import { type QueryFunction, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { throttled } from "../../api/updates/throttled.ts";
import type { Update } from "../../api/updates/update.ts";
import { updateStream } from "../../api/updates/update-stream.ts";
import type { LiveRule } from "./live-rule.ts";

type Rows<Row> = { readonly data: readonly Row[]; readonly nextCursor: string | null };
type LiveListQuery<Row> = { readonly queryKey: QueryKey; readonly queryFn?: unknown } & {
  readonly row?: Row;
};

/** New rows on a list that are waiting to be shown. */
export type WaitingRows = {
  readonly count: number;
  /** Whether there are more than were counted: a burst or a lost network hides new rows behind the first page. */
  readonly isMore: boolean;
  readonly show: () => void;
};

const READ_EVERY_MS = 3_000;
const DUE_EVERY_MS = 5_000;
const COUNTED_MAX = 10_000;

/**
 * Keeps a list up to date without moving it under the person's eyes: rows that it shows change where they are, and new rows
 * are counted until the person wants to see them. However much changes, it reads at most once in three seconds.
 * @param rule absent: the list is not live
 */
export function useLiveList<Row>(
  query: LiveListQuery<Row>,
  rowKey: (row: Row) => string,
  rule: LiveRule<Row> | undefined,
): WaitingRows {
  const queryClient = useQueryClient();
  const list = JSON.stringify(query.queryKey);
  const [path] = query.queryKey;
  const { keys, isMore, add, clear } = useWaitingKeys(list);
  const rowsNow = () => queryClient.getQueryData<Rows<Row>>(query.queryKey)?.data;
  const readAgain = useEffectEvent(async () => {
    const { queryKey, queryFn } = query;
    const fresh = await queryClient.fetchQuery({
      queryKey: ["live", ...queryKey],
      queryFn: queryFn as QueryFunction<Rows<Row>>, // The list has the type of its rows.
      staleTime: 0,
      gcTime: 0,
      retry: false,
    });
    const shown = new Set(rowsNow()?.map(rowKey));
    const byKey = new Map(fresh.data.map((row) => [rowKey(row), row]));
    queryClient.setQueryData<Rows<Row>>(
      queryKey,
      (before) => before && { ...before, data: before.data.map((row) => byKey.get(rowKey(row)) ?? row) },
    );
    // Rows before the first one that is shown are new; what follows the last one is of the next page.
    const end = fresh.data.findIndex((row) => shown.has(rowKey(row)));
    const newKeys = fresh.data.slice(0, end === -1 ? fresh.data.length : end).map(rowKey);
    const isOldestKnown = keys.has(newKeys.at(-1) ?? "");
    add(newKeys, end === -1 && fresh.nextCursor !== null && !isOldestKnown);
  });
  const note = useEffectEvent((update: Update): boolean => {
    const rows = rowsNow();
    if (rule === undefined || rows === undefined) return false;
    if (update === null) return true;
    const { isChanged, newKeys } = rule.effectOf(update, rows);
    add(newKeys);
    return isChanged;
  });
  const isDue = useEffectEvent(() => !document.hidden && rule?.isDue?.(rowsNow() ?? []) === true);
  const isLive = rule !== undefined;
  useEffect(() => {
    if (!isLive) return;
    // A list that cannot be read now shows its error when the person opens it.
    const read = throttled(() => void readAgain().catch(() => undefined), READ_EVERY_MS);
    const unsubscribe = updateStream.subscribe((update) => {
      if (note(update)) read.call();
      // The same list with other filters is read again when it is shown.
      void queryClient.invalidateQueries({ queryKey: [path], type: "inactive", refetchType: "none" });
    });
    const timer = setInterval(() => isDue() && read.call(), DUE_EVERY_MS);
    return () => {
      clearInterval(timer);
      unsubscribe();
      read.cancel();
    };
  }, [isLive, list, path, queryClient]);
  return {
    count: keys.size,
    isMore,
    show: () => {
      clear();
      void queryClient.invalidateQueries({ queryKey: query.queryKey });
    },
  };
}

/** Keys of new rows of a list. Another list begins without any. */
function useWaitingKeys(list: string) {
  const [waiting, setWaiting] = useState({ list, keys: NONE, isMore: false });
  return {
    keys: waiting.list === list ? waiting.keys : NONE,
    isMore: waiting.list === list && waiting.isMore,
    clear: () => setWaiting({ list, keys: NONE, isMore: false }),
    add: (newKeys: readonly string[], isMore = false) => {
      if (newKeys.length === 0) return;
      setWaiting((before) => {
        const known = before.list === list ? before.keys : NONE;
        return {
          list,
          keys: new Set([...known, ...newKeys].slice(0, COUNTED_MAX)),
          isMore: isMore || (before.list === list && before.isMore),
        };
      });
    },
  };
}

const NONE: ReadonlySet<string> = new Set();
