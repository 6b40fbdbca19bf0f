import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Order } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { DueTime } from "../../../ui/due-time.tsx";
import { Below } from "../../../ui/list/below.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { Section } from "../../../ui/section.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { ownerEndpointsQuery } from "../../webhooks/queries.ts";
import { orderDeliveriesQuery } from "../queries.ts";

/** The events of the order on their way to the partner. */
export function OrderDeliveries({ order }: { order: Order }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(orderDeliveriesQuery(order));
  const { data: endpoints } = useQuery(ownerEndpointsQuery(order.connectionId));
  // A deleted endpoint has no URL any more.
  const urlOf = (endpointId: string) =>
    endpoints?.data.find(({ id }) => id === endpointId)?.url.replace(/^https?:\/\//, "") ?? "–";
  return (
    <Section title={t("order.deliveries")}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("order.noDeliveries")}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          label={t("order.deliveries")}
          rows={data.data}
          rowKey={({ id }) => id}
          rowTo={({ id }) => paths.delivery(order.connectionId, id)}
          columns={[
            {
              name: t("order.event"),
              // An event has a delivery for each endpoint.
              cell: ({ eventType, endpointId }) => (
                <Below text={urlOf(endpointId)}>
                  <Text span inherit ff="monospace">
                    {eventType}
                  </Text>
                </Below>
              ),
            },
            { name: t("orders.status"), cell: ({ status }) => <StatusBadge of="delivery" status={status} /> },
            {
              name: t("order.attempts"),
              align: "right",
              cell: ({ attemptCount }) => formatNumber(attemptCount),
            },
            {
              name: t("order.nextAttempt"),
              align: "right",
              isMinor: true,
              cell: ({ nextAttemptAt }) => <DueTime at={nextAttemptAt} />,
            },
            { name: t("orders.created"), align: "right", cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      )}
    </Section>
  );
}
