import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Delivery } from "../../../api/schema.d.ts";
import { formatNumber } from "../../../text/format.ts";
import { DueTime } from "../../../ui/due-time.tsx";
import type { Column } from "../../../ui/list/data-table.tsx";
import { IdText } from "../../../ui/list/id-text.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";

/** The columns of a log of deliveries. The first one is the event. */
export function useDeliveryColumns(): readonly Column<Delivery>[] {
  const { t } = useTranslation();
  return [
    {
      name: t("deliveries.event"),
      cell: ({ eventType }) => (
        <Text span inherit ff="monospace">
          {eventType}
        </Text>
      ),
    },
    {
      name: t("deliveries.status"),
      cell: ({ status }) => <StatusBadge of="delivery" status={status} />,
    },
    {
      name: t("deliveries.order"),
      cell: ({ orderId }) => (orderId === null ? "–" : <IdText id={orderId} />),
      isMinor: true,
    },
    { name: t("deliveries.lastError"), cell: ({ attempts }) => attempts.at(-1)?.error ?? "–" },
    {
      name: t("deliveries.attempts"),
      cell: ({ attemptCount }) => formatNumber(attemptCount),
      align: "right",
    },
    {
      name: t("deliveries.nextAttempt"),
      cell: ({ nextAttemptAt }) => <DueTime at={nextAttemptAt} />,
      align: "right",
      isMinor: true,
    },
    { name: t("deliveries.created"), cell: ({ createdAt }) => <Time at={createdAt} />, align: "right" },
  ];
}
