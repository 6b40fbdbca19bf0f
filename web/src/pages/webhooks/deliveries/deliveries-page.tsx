import { Select, Stack, TextInput } from "@mantine/core";
import { getRouteApi, useParams, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import type { DeliveryOfOwner } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { endOf, startOf } from "../../../text/format.ts";
import { DownloadButton } from "../../../ui/download-button.tsx";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import type { Column } from "../../../ui/list/data-table.tsx";
import { DayFilter, Filters, FlagFilter, SearchFilter, SelectFilter } from "../../../ui/list/filters.tsx";
import { Crumbs } from "../../../ui/page.tsx";
import { ConnectionTabs } from "../../thing-tabs.tsx";
import { ALL_EVENT_TYPES, EVENT_TYPES } from "../filter-values.ts";
import {
  OwnerCell,
  OwnerFilter,
  type OwnerKind,
  ownerKindOf,
  ownerOf,
  ownerRoute,
  useOwnerName,
} from "../owner.tsx";
import {
  allDeliveriesQuery,
  deliveriesFile,
  deliveriesQuery,
  type DeliveryFilters as Search,
} from "../queries.ts";
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
      crumbs={<Crumbs of={[[ownerName, paths.owner(ownerId)]]} />}
      tabs={ownerKindOf(ownerId) === "connection" && <ConnectionTabs connectionId={ownerId} />}
      actions={<DownloadButton address={deliveriesFile(ownerId, search)} />}
      changes={<ResendPeriod ownerId={ownerId} filters={search} />}
      query={deliveriesQuery(ownerId, search)}
      filters={<FilterFields kind={ownerKindOf(ownerId)} />}
      ownerId={ownerId}
      ownerOf={() => ownerId}
      empty={isFiltered ? t("deliveries.emptyFiltered") : t("deliveries.empty")}
      columns={useDeliveryColumns()}
    />
  );
}

// The search of another page is never seen here, so it has the parameters of this one.
const useDeliverySearch = (): Search => useSearch({ strict: false }) as Search;

function FilterFields({ kind }: { kind: OwnerKind }) {
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

type Props = { readonly ownerId: string; readonly filters: Search };

const RESENT_STATUSES = ["failed", "succeeded", "pending"] as const;
const DAY_MS = 86_400_000;

/** The day in the person's zone, some days ago. */
function dayAgo(days: number): string {
  const then = new Date(Date.now() - days * DAY_MS);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
}

/** Sends the deliveries of a period again. The dialog begins with the filters of the list. */
function ResendPeriod({ ownerId, filters }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("resends.period")}
      confirm={t("resends.resend")}
      effect={t("resends.periodEffect")}
      done={t("resends.started")}
      initialValues={{
        since: filters.since ?? dayAgo(1),
        until: filters.until ?? dayAgo(0),
        status: filters.status ?? "failed",
      }}
      validate={({ since, until }) => ({
        ...(since === "" && { since: t("ui.required") }),
        ...(until === "" && { until: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            type="date"
            label={t("resends.since")}
            description={t("resends.periodHelp")}
            {...form.getInputProps("since")}
          />
          <TextInput type="date" label={t("resends.until")} {...form.getInputProps("until")} />
          <Select
            label={t("resends.status")}
            data={RESENT_STATUSES.map((value) => ({ value, label: t(`status.delivery.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("status")}
          />
        </Stack>
      )}
      run={({ since, until, status }) =>
        dataOf(
          api.POST(ownerRoute(ownerId, "/resends"), {
            params: { path: { id: ownerId } },
            body: {
              since: startOf(since),
              until: endOf(until),
              status,
              ...(filters.eventType !== undefined && { eventType: filters.eventType as never }),
              ...(filters.endpointId !== undefined && { endpointId: filters.endpointId }),
            },
          }),
        )
      }
    />
  );
}

const allRoute = getRouteApi("/signed-in/deliveries");

/** The deliveries of all owners that the person sees. */
export function AllDeliveriesPage() {
  const { t } = useTranslation();
  const search = allRoute.useSearch();
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
  const { status, eventType, owner, since, until } = allRoute.useSearch();
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
