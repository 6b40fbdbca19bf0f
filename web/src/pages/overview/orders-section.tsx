import { Group, SegmentedControl, Text, Tooltip } from "@mantine/core";
import { type MouseEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { OrderStatus, Overview } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatNumber, utcDay } from "../../text/format.ts";
import { TextLink, useGo } from "../../ui/link.tsx";
import { type Column, DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { ORDER_STATUSES } from "../orders/queries.ts";
import chart from "./chart.module.css";
import classes from "./overview.module.css";
import { axisTop } from "./scale.ts";

type Props = { readonly of: Overview; readonly days: number; readonly merchantId: string | undefined };

/** Orders by the day of their creation and their present status: as a chart, and as a table whose numbers are links. */
export function OrdersSection({ of: overview, days, merchantId }: Props) {
  const { t } = useTranslation();
  const [form, setForm] = useState("chart");
  const rows = daysOf(overview, days);
  const total = rows.reduce((sum, { all }) => sum + all, 0);
  // The figures of the oldest count, if a job has counted days.
  const countedAt = overview.ordersByDay.flatMap((day) => day.countedAt ?? []).toSorted()[0];
  const linkOf = (day: string, status?: string) =>
    paths.orders({ status, createdSince: startOfUtcDay(day), createdUntil: endOfUtcDay(day), merchantId });
  return (
    <Section
      title={t("overview.orders")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t("overview.form")}
          value={form}
          onChange={setForm}
          data={[
            { value: "chart", label: t("overview.chart") },
            { value: "table", label: t("overview.table") },
          ]}
        />
      }
    >
      <Text size="xs" c="dimmed">
        {t("overview.ordersAbout", { count: total, number: formatNumber(total) })}
        {countedAt !== undefined && (
          <>
            {" "}
            {t("overview.countedAt")} <Time at={countedAt} as="relative" />.
          </>
        )}
        {rows.length < days && (
          <>
            {" "}
            {t("overview.countedSince")} <Time at={overview.completeSince} as="exact" />
          </>
        )}
      </Text>
      {total === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.noOrders")}
        </Text>
      ) : form === "table" ? (
        <DaysTable rows={rows.filter(({ all }) => all > 0).toReversed()} linkOf={linkOf} />
      ) : (
        <OrdersChart rows={rows} linkOf={linkOf} />
      )}
    </Section>
  );
}

type TableProps = {
  readonly rows: readonly DayOfOrders[];
  readonly linkOf: (day: string, status?: string) => string;
};

function DaysTable({ rows, linkOf }: TableProps) {
  const { t } = useTranslation();
  const shown = ORDER_STATUSES.filter((status) => rows.some((row) => row[status] > 0));
  const columns = shown.map(
    (status): Column<DayOfOrders> => ({
      name: t(`status.order.${status}`),
      align: "right",
      cell: (row) =>
        row[status] === 0 ? (
          <Text span inherit c="dimmed">
            0
          </Text>
        ) : (
          <TextLink to={linkOf(row.day, status)}>{formatNumber(row[status])}</TextLink>
        ),
    }),
  );
  return (
    <DataTable
      label={t("overview.orders")}
      rows={rows}
      rowKey={({ day }) => day}
      columns={[
        {
          name: t("overview.day"),
          cell: ({ day }) => <TextLink to={linkOf(day)}>{utcDay(day)}</TextLink>,
        },
        ...columns,
        { name: t("overview.all"), cell: ({ all }) => formatNumber(all), align: "right" },
      ]}
    />
  );
}

/** The colors of the chart have a contrast of 3 with the page, light and dark (WCAG 2.2, 1.4.11). */
const COLORS: Readonly<Record<OrderStatus, string>> = {
  NEW: "blue.6",
  PROCESSING: "orange.8",
  ACCEPTED: "cyan.7",
  IN_PROGRESS: "indigo.5",
  COMPLETED: "teal.8",
  CANCELED: "gray.6",
  RETURNED: "grape.6",
};

const DAY_MS = 86_400_000;

/** How many orders of a day have each status. */
type DayOfOrders = Readonly<Record<OrderStatus, number>> & {
  /** In UTC, such as `2026-11-22`. */
  readonly day: string;
  readonly all: number;
};

/** Every day of the period that was counted, oldest first, also those without orders: the chart has a place for each. */
function daysOf(
  { ordersByDay, completeSince, readAt }: Pick<Overview, "ordersByDay" | "completeSince" | "readAt">,
  days: number,
): DayOfOrders[] {
  const known = new Map(ordersByDay.map(({ day, counts }) => [day, counts]));
  const today = Math.floor(Date.parse(readAt) / DAY_MS);
  const first = Math.max(today - days + 1, Math.ceil(Date.parse(completeSince) / DAY_MS));
  return Array.from({ length: Math.max(0, today - first + 1) }, (_, index) => {
    const day = new Date((first + index) * DAY_MS).toISOString().slice(0, 10);
    const counts = new Map(known.get(day)?.map(({ status, count }) => [status, count]));
    const byStatus = Object.fromEntries(
      ORDER_STATUSES.map((status) => [status, counts.get(status) ?? 0]),
    ) as Record<OrderStatus, number>; // The list has all statuses.
    return { day, ...byStatus, all: ORDER_STATUSES.reduce((sum, status) => sum + byStatus[status], 0) };
  });
}

const startOfUtcDay = (day: string): string => `${day}T00:00:00.000Z`;

const endOfUtcDay = (day: string): string => new Date(Date.parse(startOfUtcDay(day)) + DAY_MS).toISOString();

type LinkOf = (day: string, status?: string) => string;

/** Days are named at the axis as far as they have room. */
const NAMED_DAYS_MAX = 5;

const colorOf = (status: keyof typeof COLORS): string =>
  `var(--mantine-color-${COLORS[status].replace(".", "-")})`;

/**
 * A bar for each day, a link to its orders; a click on a part opens those with its status. For a keyboard the table offers the
 * same with fewer steps, so the bars are not in the order of the Tab key.
 */
function OrdersChart({ rows, linkOf }: { readonly rows: readonly DayOfOrders[]; readonly linkOf: LinkOf }) {
  const { t } = useTranslation();
  const top = axisTop(Math.max(...rows.map(({ all }) => all)));
  const namedEvery = Math.ceil(rows.length / NAMED_DAYS_MAX);
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form. */}
      <div role="group" aria-label={t("overview.chartAbout")} className={chart["chart"]}>
        <div className={chart["axis"]} aria-hidden>
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{formatNumber(value)}</span>
          ))}
        </div>
        <div className={chart["days"]}>
          {rows.map((row, index) => (
            <div key={row.day} className={chart["day"]}>
              {row.all > 0 && <Bar row={row} top={top} linkOf={linkOf} />}
              {index % namedEvery === 0 && (
                <span className={chart["name"]} aria-hidden>
                  {utcDay(row.day, "short")}
                </span>
              )}
            </div>
          ))}
        </div>
      </div>
      <Group gap="md" justify="center">
        <Legend />
      </Group>
    </>
  );
}

type BarProps = { readonly row: DayOfOrders; readonly top: number; readonly linkOf: LinkOf };

function Bar({ row, top, linkOf }: BarProps) {
  const { t } = useTranslation();
  const go = useGo();
  const shown = ORDER_STATUSES.filter((status) => row[status] > 0);
  const openPart = (event: MouseEvent<HTMLAnchorElement>): void => {
    const status = event.target instanceof HTMLElement ? event.target.dataset["status"] : undefined;
    if (status === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void go(linkOf(row.day, status));
  };
  return (
    <Tooltip
      multiline
      label={
        <>
          <b>{utcDay(row.day)}</b>
          {shown.map((status) => (
            <div key={status}>
              {t(`status.order.${status}`)}: {formatNumber(row[status])}
            </div>
          ))}
        </>
      }
    >
      <TextLink
        to={linkOf(row.day)}
        className={chart["bar"] ?? ""}
        tabIndex={-1}
        onClick={openPart}
        aria-label={t("overview.ordersOfDay", {
          day: utcDay(row.day),
          count: row.all,
          number: formatNumber(row.all),
        })}
      >
        {shown.map((status) => (
          <span
            key={status}
            data-status={status}
            style={{ height: `${(row[status] / top) * 100}%`, background: colorOf(status) }}
          />
        ))}
      </TextLink>
    </Tooltip>
  );
}

/** The legend of the colors. */
function Legend() {
  const { t } = useTranslation();
  return ORDER_STATUSES.map((status) => (
    <Text key={status} span size="xs">
      <span className={classes["swatch"]} style={{ background: colorOf(status) }} />
      {t(`status.order.${status}`)}
    </Text>
  ));
}
