import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { DeliveryOfOwner } from "../../../api/schema.d.ts";
import type { Column } from "../../../ui/list/data-table.tsx";
import { DayFilter, Filters, SelectFilter } from "../../../ui/list/filters.tsx";
import { ALL_EVENT_TYPES } from "../filter-values.ts";
import { OwnerCell, OwnerFilter, ownerOf } from "../owner.tsx";
import { allDeliveriesQuery } from "../queries.ts";
import { useDeliveryColumns } from "./delivery-columns.tsx";
import { DeliveryList } from "./delivery-list.tsx";

const route = getRouteApi("/signed-in/deliveries");
const STATUSES = ["pending", "succeeded", "failed"] as const;

/** The deliveries of all owners that the person sees. */
export function AllDeliveriesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  const [event, ...others] = useDeliveryColumns();
  const owner: Column<DeliveryOfOwner> = {
    name: t("endpoints.owner"),
    cell: (delivery) => <OwnerCell of={delivery} />,
    isName: true,
    drop: 3,
    phone: "below",
  };
  return (
    <DeliveryList
      about={t("deliveries.aboutAll")}
      query={allDeliveriesQuery(search)}
      filters={<AllDeliveriesFilters />}
      ownerId={undefined}
      ownerOf={ownerOf}
      empty={isFiltered ? t("deliveries.emptyFiltered") : t("deliveries.empty")}
      columns={event === undefined ? [] : [event, owner, ...others]}
    />
  );
}

function AllDeliveriesFilters() {
  const { t } = useTranslation();
  const { status, eventType, owner, since, until } = route.useSearch();
  return (
    <Filters>
      <OwnerFilter value={owner} />
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
        options={ALL_EVENT_TYPES.map((value) => ({ value, label: value }))}
      />
      <DayFilter label={t("audit.from")} name="since" value={since} />
      <DayFilter label={t("audit.to")} name="until" value={until} />
    </Filters>
  );
}
