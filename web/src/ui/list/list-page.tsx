import IconArrowLeft from "icon:arrow-left";
import IconArrowRight from "icon:arrow-right";
import IconArrowUp from "icon:arrow-up";
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import {
  keepPreviousData,
  type QueryFunction,
  type QueryKey,
  type UseQueryOptions,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { type ReactNode, startTransition, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { LiveRule, Update } from "../../api/update.ts";
import { throttled, updateStream } from "../../api/updates.ts";
import { formatNumber } from "../../text/format.ts";
import { Page } from "../page.tsx";
import { isFinal, ProblemMessage } from "../problem-message.tsx";
import { type Column, DataTable, type Selection, useRowKeys } from "./data-table.tsx";
import { useSetFilters } from "./filters.tsx";

type ListPage<Row> = { readonly data: readonly Row[]; readonly nextCursor: string | null };

type Props<Row> = {
  readonly title: string;
  /** The content of the list, if it differs from the title. */
  readonly label?: string;
  /** The way to this page: `Crumbs`. */
  readonly crumbs?: ReactNode;
  readonly about?: ReactNode;
  /** Beside the title, such as a status. */
  readonly beside?: ReactNode;
  /** Above the filters, such as facts about what the list belongs to. */
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  /** The pages about the same thing: `Tabs`. */
  readonly tabs?: ReactNode;
  /** The filters of the list: see `filters.tsx`. They are kept in the address. */
  readonly filters?: ReactNode;
  /** What is read: `read("/api/...", { params: { query: search } })`, with the `cursor` of the address. */
  readonly query: {
    readonly queryKey: QueryKey;
    readonly queryFn?: UseQueryOptions<ListPage<Row>>["queryFn"];
  };
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The address of the page about a row. */
  readonly rowTo?: (row: Row) => string;
  /** Keeps the list up to date: what an update means for it. Absent: the list shows what it has read. */
  readonly live?: LiveRule<Row> | undefined;
  /** Rows can be chosen, for an operation on several of them. */
  readonly selection?: Selection<Row> | undefined;
  /** False: the rows show all of their texts, because no page does. */
  readonly isList?: boolean;
  /** What to do when there is nothing: a sentence, and perhaps a button. */
  readonly empty: ReactNode;
};

/**
 * A list: filters and position in the address, one page of rows, j and k to move, Enter to open. Rows stay while the next
 * page is on the way.
 */
export function ListPage<Row>({
  title,
  label = title,
  crumbs,
  about,
  beside,
  above,
  actions,
  tabs,
  filters,
  query,
  columns,
  rowKey,
  rowTo,
  empty,
  live,
  selection,
  isList = true,
}: Props<Row>) {
  const { data, error, refetch, isPlaceholderData } = useQuery<ListPage<Row>>({
    ...query,
    placeholderData: keepPreviousData,
    // The error page shows it, without filters and actions that lead to nothing.
    throwOnError: (problem) => problem instanceof ApiProblem && isFinal(problem),
  });
  const { t } = useTranslation();
  const rows = useRowsInTwoSteps(data?.data);
  useRowKeys();
  const waiting = useLiveList<Row>(query, rowKey, live);
  return (
    <Page title={title} crumbs={crumbs} about={about} beside={beside} actions={actions} tabs={tabs}>
      {above}
      {filters}
      <NewRows {...waiting} />
      {isOldPage(error) ? (
        <OldPage />
      ) : (
        error !== null && <ProblemMessage error={error} retry={() => void refetch()} />
      )}
      {rows === undefined ? (
        error === null && <RowsSkeleton />
      ) : rows.length === 0 ? (
        <Empty>{data?.nextCursor == null ? empty : t("ui.noneSoFar")}</Empty>
      ) : (
        <DataTable
          label={label}
          rows={rows}
          columns={columns}
          rowKey={rowKey}
          rowTo={rowTo}
          isList={isList}
          selection={selection}
          isStale={isPlaceholderData}
        />
      )}
      <Paging nextCursor={data?.nextCursor ?? null} count={data?.data.length} />
    </Page>
  );
}

/** The position in the address is of another list, or of an older form of it. */
const isOldPage = (error: Error | null): boolean =>
  error instanceof ApiProblem && error.errors.some(({ rule }) => rule === "cursor");

/** The way out of an address that was kept for too long. */
function OldPage() {
  const { t } = useTranslation();
  const setFilters = useSetFilters();
  return (
    <Alert variant="light" role="alert" title={t("ui.oldPage")}>
      <Button size="xs" variant="default" onClick={() => setFilters({})}>
        {t("ui.firstPage")}
      </Button>
    </Alert>
  );
}

/** More than a screen shows. */
const FIRST_ROWS = 25;

/**
 * Draws what is seen first, and the rest when the browser has nothing else to do. Rows that were read before are drawn at
 * once, so that a page to which the person goes back has its length, and is scrolled to where it was.
 */
function useRowsInTwoSteps<Row>(rows: readonly Row[] | undefined): readonly Row[] | undefined {
  const [isWhole, setWhole] = useState(rows !== undefined);
  const isShown = rows !== undefined;
  useEffect(() => {
    if (isShown) startTransition(() => setWhole(true));
  }, [isShown]);
  return isWhole ? rows : rows?.slice(0, FIRST_ROWS);
}

/** Rows appear when the person asks for them, so that no row moves under the pointer. */
function NewRows({ count, isMore, show }: WaitingRows) {
  const { t } = useTranslation();
  return (
    // It is always there, so that screen readers report what appears in it. Empty, it takes no room.
    <div role="status" style={count > 0 ? {} : { marginBottom: "calc(-1 * var(--mantine-spacing-md))" }}>
      {count > 0 && (
        <Button size="xs" variant="light" fullWidth leftSection={<IconArrowUp size={14} />} onClick={show}>
          {t(isMore ? "live.newRowsOrMore" : "live.newRows", { count })}
        </Button>
      )}
    </div>
  );
}

const Empty = ({ children }: { children: ReactNode }) => (
  <Stack align="center" gap="sm" py="xl" px="md">
    {typeof children === "string" ? (
      <Text c="dimmed" size="sm" ta="center">
        {children}
      </Text>
    ) : (
      children
    )}
  </Stack>
);

function RowsSkeleton() {
  const { t } = useTranslation();
  return (
    // As high as the rows that follow.
    <Stack gap={28} py="sm" role="status" aria-label={t("ui.loading")}>
      {Array.from({ length: 12 }, (_, index) => (
        <Skeleton key={index} height={12} />
      ))}
    </Stack>
  );
}

type PagingProps = {
  readonly nextCursor: string | null;
  /** Rows of this page. Undefined: they are on the way, or their number is of no interest. */
  readonly count?: number | undefined;
};

/**
 * The API pages by cursor, so there is a next page and, through the browser's history, a previous one. The history also keeps
 * how many rows were before. The number of all rows is known on the last page: to count them would cost more than the page.
 */
export function Paging({ nextCursor, count }: PagingProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { history, state } = useRouter();
  const { cursor } = state.location.search as { cursor?: string }; // Every list reads this parameter.
  const before = cursor === undefined ? 0 : (state.location.state as RowsBefore).rowsBefore;
  const turn = (next: string | undefined) =>
    navigate({
      to: ".",
      search: (search: object) => ({ ...search, cursor: next }),
      state: next === undefined || before === undefined ? {} : { rowsBefore: before + (count ?? 0) },
    } as never);
  const isPaged = cursor !== undefined || nextCursor !== null;
  const range = count === undefined || before === undefined || count === 0 ? null : { before, count };
  if (!isPaged && range === null) return null;
  return (
    <Group justify="space-between" gap="xs">
      <Text size="xs" c="dimmed" role="status">
        {range !== null && rangeText(t, range, nextCursor !== null)}
      </Text>
      {isPaged && (
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowLeft size={14} />}
            disabled={cursor === undefined}
            onClick={() => (history.canGoBack() ? history.back() : void turn(undefined))}
          >
            {t("ui.previousPage")}
          </Button>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconArrowRight size={14} />}
            disabled={nextCursor === null}
            onClick={() => void turn(nextCursor ?? undefined)}
          >
            {t("ui.nextPage")}
          </Button>
        </Group>
      )}
    </Group>
  );
}

/** What an entry of the history has. Undefined: the page was opened by its address. */
type RowsBefore = { readonly rowsBefore?: number };

function rangeText(
  t: TFunction,
  { before, count }: { readonly before: number; readonly count: number },
  isMore: boolean,
): string {
  const last = before + count;
  if (before === 0 && !isMore) return t("ui.rows", { count, number: formatNumber(count) });
  const texts = { first: formatNumber(before + 1), last: formatNumber(last) };
  return t(isMore ? "ui.rangeOfMore" : "ui.rangeOf", texts);
}

type Rows<Row> = { readonly data: readonly Row[]; readonly nextCursor: string | null };
type LiveListQuery<Row> = { readonly queryKey: QueryKey; readonly queryFn?: unknown } & {
  readonly row?: Row;
};

/** New rows on a list that are waiting to be shown. */
type WaitingRows = {
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
function useLiveList<Row>(
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
