import { Group, SegmentedControl, Text, Tooltip } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { type MouseEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { OrderStatus, Overview } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { endOf, formatNumber, startOf, utcDay } from "../../text/format.ts";
import { TextLink, useGo } from "../../ui/link.tsx";
import { type Column, DataTable } from "../../ui/list/data-table.tsx";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Section } from "../../ui/page.tsx";
import { toneOfOrder } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ORDER_STATUSES } from "../orders/queries.ts";
import chart from "./chart.module.css";
import { PERIOD_DEFAULT, PERIODS } from "./queries.ts";
import { axisTicks } from "./scale.ts";

const route = getRouteApi("/signed-in/");

type Props = { readonly of: Overview; readonly days: number; readonly merchantId: string | undefined };

/** Orders by the person's day of their creation and their present status: as a chart, and as a table whose numbers are links. */
export function OrdersSection({ of: overview, days, merchantId }: Props) {
  const { t } = useTranslation();
  const [form, setForm] = useState("chart");
  const rows = daysOf(overview, days);
  const total = rows.reduce((sum, { all }) => sum + all, 0);
  // The figures of the oldest count, if a job has counted days.
  const countedAt = overview.ordersByDay.flatMap((day) => day.countedAt ?? []).toSorted()[0];
  const linkOf = (day: string, status?: string) =>
    paths.orders({ status, createdSince: startOf(day), createdUntil: endOf(day), merchantId });
  return (
    <Section
      title={t("overview.orders")}
      actions={
        <Group gap="xs">
          <PeriodChoice />
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
        </Group>
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

/** How many orders of a day have each status. */
type DayOfOrders = Readonly<Record<OrderStatus, number>> & {
  /** In the person's zone, such as `2026-11-22`. */
  readonly day: string;
  readonly all: number;
};

/** Every day of the period that was counted, oldest first, also those without orders: the chart has a place for each. */
function daysOf(
  { ordersByDay, completeSince, readAt }: Pick<Overview, "ordersByDay" | "completeSince" | "readAt">,
  days: number,
): DayOfOrders[] {
  const known = new Map(ordersByDay.map(({ day, counts }) => [day, counts]));
  const today = new Date(readAt);
  const shown = Array.from({ length: days }, (_, index) =>
    dayOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1 + index)),
  ).filter((day) => Date.parse(startOf(day)) >= Date.parse(completeSince) || known.has(day));
  return shown.map((day) => {
    const counts = new Map(known.get(day)?.map(({ status, count }) => [status, count]));
    const byStatus = Object.fromEntries(
      ORDER_STATUSES.map((status) => [status, counts.get(status) ?? 0]),
    ) as Record<OrderStatus, number>; // The list has all statuses.
    return { day, ...byStatus, all: ORDER_STATUSES.reduce((sum, status) => sum + byStatus[status], 0) };
  });
}

/** The day of a time in the person's zone. */
const dayOf = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

type LinkOf = (day: string, status?: string) => string;

/** Days are named at the axis as far as they have room. */
const NAMED_DAYS_MAX = 5;

/** The colors of the pills: several states have the same one. */
const colorOf = (status: OrderStatus): string => `var(--tone-${toneOfOrder(status)}-bar)`;

/**
 * A bar for each day, a link to its orders; a click on a part opens those with its status. For a keyboard the table offers the
 * same with fewer steps, so the bars are not in the order of the Tab key.
 */
function OrdersChart({ rows, linkOf }: { readonly rows: readonly DayOfOrders[]; readonly linkOf: LinkOf }) {
  const { t } = useTranslation();
  const ticks = axisTicks(Math.max(...rows.map(({ all }) => all)));
  const top = ticks.at(-1) ?? 1;
  const namedEvery = Math.ceil(rows.length / NAMED_DAYS_MAX);
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form. */}
      <div role="group" aria-label={t("overview.chartAbout")} className={chart["chart"]}>
        <div className={chart["axis"]} aria-hidden>
          {ticks.toReversed().map((value) => (
            <span key={value}>{formatNumber(value)}</span>
          ))}
        </div>
        <div
          className={chart["days"]}
          style={{ backgroundSize: `100% ${100 / (ticks.length - 1)}%` }} // A line for each value of the axis.
        >
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

function PeriodChoice() {
  const { t } = useTranslation();
  const { days = PERIOD_DEFAULT } = route.useSearch();
  const setFilters = useSetFilters();
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("overview.period")}
      value={days}
      onChange={(value) => setFilters({ days: value === PERIOD_DEFAULT ? undefined : value })}
      data={PERIODS.map((value) => ({ value, label: t("overview.days", { count: Number(value) }) }))}
    />
  );
}
