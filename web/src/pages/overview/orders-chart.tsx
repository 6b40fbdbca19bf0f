import "@mantine/charts/styles.layer.css";
import { BarChart } from "@mantine/charts";
import { Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { formatNumber, utcDay } from "../../text/format.ts";
import { useGo } from "../../ui/link.tsx";
import { ORDER_STATUSES } from "../orders/queries.ts";
import { CHART_HEIGHT, COLORS } from "./colors.ts";
import type { DayOfOrders } from "./days.ts";
import classes from "./overview.module.css";

type Props = {
  readonly rows: readonly DayOfOrders[];
  readonly linkOf: (day: string, status?: string) => string;
};

/** A bar for each day. A click on a part of it opens these orders; the table offers the same to a keyboard. */
export function OrdersChart({ rows, linkOf }: Props) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <>
      <div role="img" aria-label={t("overview.chartAbout")}>
        <BarChart
          h={CHART_HEIGHT}
          data={rows.map((row) => ({ ...row }))}
          dataKey="day"
          type="stacked"
          maxBarWidth={42}
          series={ORDER_STATUSES.map((status) => ({
            name: status,
            label: t(`status.order.${status}`),
            color: COLORS[status],
          }))}
          xAxisProps={{ tickFormatter: (day: string) => utcDay(day, "short") }}
          yAxisProps={{ allowDecimals: false, width: 44 }}
          valueFormatter={formatNumber}
          tooltipProps={{
            labelFormatter: (day) => (typeof day === "string" && day !== "" ? utcDay(day) : ""),
          }}
          barChartProps={{ accessibilityLayer: false }}
          barProps={({ name }) => ({
            isAnimationActive: false,
            cursor: "pointer",
            onClick: ({ payload }: { payload?: { day?: string } }) => {
              if (payload?.day !== undefined) void go(linkOf(payload.day, name));
            },
          })}
        />
      </div>
      <Group gap="md" justify="center">
        <Legend />
      </Group>
    </>
  );
}

/** What the colors mean. */
function Legend() {
  const { t } = useTranslation();
  return ORDER_STATUSES.map((status) => (
    <Text key={status} span size="xs">
      <span
        className={classes["swatch"]}
        style={{ background: `var(--mantine-color-${COLORS[status].replace(".", "-")})` }}
      />
      {t(`status.order.${status}`)}
    </Text>
  ));
}
