import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { DayFilter } from "../../../ui/list/day-filter.tsx";
import { Filters, FlagFilter, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { useConnectionName } from "../../connections/connection-name.ts";
import { EVENT_TYPES } from "../filter-values.ts";
import { deliveriesQuery } from "../queries.ts";
import { ResendPeriod } from "../resends/resend-period.tsx";
import { useDeliveryColumns } from "./delivery-columns.tsx";
import { DeliveryList } from "./delivery-list.tsx";

const route = getRouteApi("/signed-in/connections/$connectionId/deliveries");
const STATUSES = ["pending", "succeeded", "failed"] as const;

/** The delivery log of a connection. */
export function DeliveriesPage() {
  const { t } = useTranslation();
  const { connectionId } = route.useParams();
  const connectionName = useConnectionName(connectionId);
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <DeliveryList
      about={t("deliveries.about")}
      crumbs={<Crumbs of={[[connectionName, paths.connection(connectionId)]]} />}
      actions={<ResendPeriod connectionId={connectionId} filters={search} />}
      query={deliveriesQuery(connectionId, search)}
      filters={<DeliveryFilters />}
      connectionId={connectionId}
      connectionOf={() => connectionId}
      empty={isFiltered ? t("deliveries.emptyFiltered") : t("deliveries.empty")}
      columns={useDeliveryColumns()}
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
