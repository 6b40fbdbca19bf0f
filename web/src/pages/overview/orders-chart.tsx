import { Group, Text, Tooltip } from "@mantine/core";
import type { MouseEvent } from "react";
import { useTranslation } from "react-i18next";
import { formatNumber, utcDay } from "../../text/format.ts";
import { TextLink, useGo } from "../../ui/link.tsx";
import { ORDER_STATUSES } from "../orders/queries.ts";
import chart from "./chart.module.css";
import { COLORS } from "./colors.ts";
import type { DayOfOrders } from "./days.ts";
import classes from "./overview.module.css";
import { axisTop } from "./scale.ts";

type LinkOf = (day: string, status?: string) => string;

/** Days are named at the axis as far as they have room. */
const NAMED_DAYS_MAX = 5;

const colorOf = (status: keyof typeof COLORS): string =>
  `var(--mantine-color-${COLORS[status].replace(".", "-")})`;

/**
 * A bar for each day, a link to its orders; a click on a part opens those with its status. For a keyboard the table offers the
 * same with fewer steps, so the bars are not in the order of the Tab key.
 */
export function OrdersChart({
  rows,
  linkOf,
}: {
  readonly rows: readonly DayOfOrders[];
  readonly linkOf: LinkOf;
}) {
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
