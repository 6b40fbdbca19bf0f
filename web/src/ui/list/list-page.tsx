import { Button, Paper, Skeleton, Stack, Text } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";
import { keepPreviousData, type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ReactNode, startTransition, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import { Page } from "../page.tsx";
import { isFinal, ProblemMessage } from "../problem-message.tsx";
import { type Column, DataTable, type Selection } from "./data-table.tsx";
import type { LiveRule } from "./live-rule.ts";
import { Paging } from "./paging.tsx";
import { useLiveList, type WaitingRows } from "./use-live-list.ts";
import { useRowKeys } from "./use-row-keys.ts";

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
  filters,
  query,
  columns,
  rowKey,
  rowTo,
  empty,
  live,
  selection,
}: Props<Row>) {
  const { data, error, refetch, isPlaceholderData } = useQuery<ListPage<Row>>({
    ...query,
    placeholderData: keepPreviousData,
    // The error page shows it, without filters and actions that lead to nothing.
    throwOnError: (problem) => problem instanceof ApiProblem && isFinal(problem),
  });
  const rows = useRowsInTwoSteps(data?.data);
  useRowKeys();
  const waiting = useLiveList<Row>(query, rowKey, live);
  return (
    <Page title={title} crumbs={crumbs} about={about} beside={beside} actions={actions}>
      {above}
      {filters}
      <NewRows {...waiting} />
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {rows === undefined ? (
        error === null && <RowsSkeleton />
      ) : rows.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <DataTable
          label={label}
          rows={rows}
          columns={columns}
          rowKey={rowKey}
          rowTo={rowTo}
          selection={selection}
          isStale={isPlaceholderData}
        />
      )}
      <Paging nextCursor={data?.nextCursor ?? null} />
    </Page>
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
  <Paper withBorder p="xl" radius="md">
    <Stack align="center" gap="sm">
      {typeof children === "string" ? (
        <Text c="dimmed" size="sm" ta="center">
          {children}
        </Text>
      ) : (
        children
      )}
    </Stack>
  </Paper>
);

function RowsSkeleton() {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" role="status" aria-label={t("ui.loading")}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={34} />
      ))}
    </Stack>
  );
}
