import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { formatNumber } from "../../../text/format.ts";
import { DayFilter } from "../../../ui/list/day-filter.tsx";
import { Filters, FlagFilter, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { StatusBadge } from "../../../ui/status-badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { EVENT_TYPES } from "../filter-values.ts";
import { deliveriesQuery } from "../queries.ts";

const route = getRouteApi("/signed-in/connections/$connectionId/deliveries");
const STATUSES = ["pending", "succeeded", "failed"] as const;

/** The delivery log of a connection. */
export function DeliveriesPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <ListPage
      title={t("deliveries.title")}
      about={t("deliveries.about")}
      crumbs={<Crumbs of={[[t("endpoints.connection"), paths.connection(connectionId)]]} />}
      query={deliveriesQuery(connectionId, search)}
      filters={<DeliveryFilters />}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.delivery(connectionId, id)}
      empty={isFiltered ? t("deliveries.emptyFiltered") : t("deliveries.empty")}
      columns={[
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
        { name: t("deliveries.order"), cell: ({ orderId }) => orderId ?? "–", isMinor: true },
        {
          name: t("deliveries.lastError"),
          cell: ({ attempts }) => attempts.at(-1)?.error ?? "–",
        },
        {
          name: t("deliveries.attempts"),
          cell: ({ attemptCount }) => formatNumber(attemptCount),
          align: "right",
        },
        {
          name: t("deliveries.nextAttempt"),
          cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} as="relative" />,
          align: "right",
          isMinor: true,
        },
        {
          name: t("deliveries.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
        },
      ]}
    />
  );
}

function DeliveryFilters() {
  const { t } = useTranslation();
  const { status, eventType, hasFailedAttempts, orderId, since, until } = route.useSearch();
  return (
    <Filters>
      <SearchFilter label={t("deliveries.byOrder")} name="orderId" value={orderId} />
      <SelectFilter
        label={t("deliveries.status")}
        name="status"
        value={status}
        options={STATUSES.map((value) => ({ value, label: t(`status.delivery.${value}`) }))}
      />
      <SelectFilter
        label={t("deliveries.event")}
        name="eventType"
        value={eventType}
        options={EVENT_TYPES.map((value) => ({ value, label: value }))}
      />
      <FlagFilter
        label={t("deliveries.failures")}
        name="hasFailedAttempts"
        value={hasFailedAttempts}
        yes={t("deliveries.withFailures")}
        no={t("deliveries.withoutFailures")}
      />
      <DayFilter label={t("audit.from")} name="since" value={since} />
      <DayFilter label={t("audit.to")} name="until" value={until} />
    </Filters>
  );
}
