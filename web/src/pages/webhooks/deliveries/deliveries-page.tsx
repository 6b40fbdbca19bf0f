import { useParams, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../../paths.ts";
import { DayFilter } from "../../../ui/list/day-filter.tsx";
import { Filters, FlagFilter, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { EVENT_TYPES } from "../filter-values.ts";
import { type OwnerKind, ownerKindOf, useOwnerName } from "../owner.ts";
import { deliveriesQuery, type DeliveryFilters as Search } from "../queries.ts";
import { ResendPeriod } from "../resends/resend-period.tsx";
import { useDeliveryColumns } from "./delivery-columns.tsx";
import { DeliveryList } from "./delivery-list.tsx";

const STATUSES = ["pending", "succeeded", "failed"] as const;

/** The delivery log of a connection. */
export function DeliveriesPage() {
  const { t } = useTranslation();
  // Each kind of owner has a route for this page, with the same parameters.
  const { ownerId = "" } = useParams({ strict: false });
  const search = useDeliverySearch();
  const ownerName = useOwnerName(ownerId);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <DeliveryList
      about={t("deliveries.about")}
      crumbs={<Crumbs of={[[ownerName, paths.owner(ownerId)]]} />}
      actions={<ResendPeriod ownerId={ownerId} filters={search} />}
      query={deliveriesQuery(ownerId, search)}
      filters={<DeliveryFilters kind={ownerKindOf(ownerId)} />}
      ownerId={ownerId}
      ownerOf={() => ownerId}
      empty={isFiltered ? t("deliveries.emptyFiltered") : t("deliveries.empty")}
      columns={useDeliveryColumns()}
    />
  );
}

// The search of another page is never seen here, so it has the parameters of this one.
const useDeliverySearch = (): Search => useSearch({ strict: false }) as Search;

function DeliveryFilters({ kind }: { kind: OwnerKind }) {
  const { t } = useTranslation();
  const { status, eventType, hasFailedAttempts, orderId, since, until } = useDeliverySearch();
  return (
    <Filters>
      <SearchFilter
        label={t(kind === "connection" ? "deliveries.byOrder" : "deliveries.byOrderId")}
        name="orderId"
        value={orderId}
      />
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
        options={EVENT_TYPES[kind].map((value) => ({ value, label: value }))}
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
