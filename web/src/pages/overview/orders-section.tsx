import { SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Overview } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatNumber, utcDay } from "../../text/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { type Column, DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import { ORDER_STATUSES } from "../orders/queries.ts";
import { type DayOfOrders, daysOf, endOfUtcDay, startOfUtcDay } from "./days.ts";
import { OrdersChart } from "./orders-chart.tsx";

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
