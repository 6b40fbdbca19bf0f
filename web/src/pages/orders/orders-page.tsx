import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { OrderSummary } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { endOf, formatNumber, localDay, shortDay, shortTime, startOf } from "../../text/format.ts";
import { useHoldReason } from "../../text/words.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { IdText } from "../../ui/list/data-table.tsx";
import {
  ActiveFilters,
  DayFilter,
  Filters,
  FlagFilter,
  SearchFilter,
  SelectFilter,
  useSetFilters,
} from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Parts } from "../../ui/page.tsx";
import { HeldMark, Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ThingFilter, useThingName } from "../thing-filter.tsx";
import { SavedViews } from "../views/saved-views.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { liveOrders } from "./live-orders.ts";
import classes from "./orders-page.module.css";
import { ORDER_STATUSES, ordersFile, ordersQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/orders");

export function OrdersPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const setFilters = useSetFilters();
  const isFiltered = Object.keys(search).length > 0;
  const [chosen, choose] = useState<ReadonlyMap<string, OrderSummary>>(new Map());
  // Partners do not (docs/design/people.md, "Partners' developers").
  const seesPrices = useHasRole("operator", "support", "merchant", "warehouse");
  const mayChange = useHasRole("operator", "merchant", "warehouse");
  const holdReason = useHoldReason();
  const isOldestFirst = search.sort === "oldest";
  return (
    <ListPage<OrderSummary>
      title={t("orders.title")}
      actions={
        <>
          <SavedViews
            page="orders"
            to={(query) => paths.orders(Object.fromEntries(new URLSearchParams(query)))}
          />
          {mayChange && <DownloadButton address={ordersFile(search)} needsProof label={t("orders.export")} />}
        </>
      }
      query={ordersQuery(search)}
      filters={
        <>
          <OrderFilters />
          <BulkActions chosen={chosen} choose={choose} />
        </>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.order(id)}
      live={liveOrders(search)}
      selection={
        mayChange
          ? {
              chosen,
              choose,
              labelOf: ({ id, externalOrderId }) => t("selection.selectOf", { name: externalOrderId ?? id }),
              allLabel: t("selection.page"),
            }
          : undefined
      }
      empty={isFiltered ? t("orders.emptyFiltered") : t("orders.empty")}
      columns={[
        { name: t("orders.order"), cell: (order) => <OrderName order={order} /> },
        { name: t("orders.status"), cell: (order) => <OrderState order={order} />, phone: "beside" },
        {
          name: t("orders.hold"),
          cell: ({ onHoldReasons }) => onHoldReasons.map(holdReason).join(", "),
          isName: true,
          drop: 4,
        },
        {
          name: t("orders.recipient"),
          cell: ({ shippingAddress }) => <Recipient of={shippingAddress} />,
          isLong: true,
          phone: "below",
        },
        { name: t("orders.merchant"), cell: ({ merchantName }) => merchantName, isName: true, drop: 3 },
        {
          name: t("orders.connection"),
          cell: ({ connectionName }) => connectionName,
          isName: true,
          drop: 2,
        },
        {
          name: t("orders.units"),
          cell: ({ lines }) => formatNumber(lines.reduce((sum, { quantity }) => sum + quantity, 0)),
          align: "right",
          isMinor: true,
        },
        ...(seesPrices
          ? [
              {
                name: t("orders.goods"),
                cell: ({ goods }: OrderSummary) => <Money of={goods} />,
                align: "right" as const, // Otherwise it is any text.
              },
            ]
          : []),
        {
          name: t("orders.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
          phone: "end",
          sort: {
            direction: isOldestFirst ? "ascending" : "descending",
            toggle: () => setFilters({ sort: isOldestFirst ? undefined : "oldest" }),
          },
        },
      ]}
    />
  );
}

const Recipient = ({ of: { name, city, countryCode } }: { of: OrderSummary["shippingAddress"] }) => (
  <Parts of={[name, <Parts key="to" of={[city, countryCode]} between=", " />]} between=" · " />
);

/** Partners and staff speak of an order by the partner's id, if it has one. */
const OrderName = ({ order: { id, externalOrderId } }: { order: OrderSummary }) =>
  externalOrderId === null ? (
    <IdText id={id} />
  ) : (
    <IdText id={externalOrderId} title={`${externalOrderId} · ${id}`} />
  );

/** The state; that it is on hold stays in sight where the column of the reasons is left out. */
function OrderState({ order: { status, onHoldReasons, testMode } }: { order: OrderSummary }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  return (
    <span className={classes["states"]}>
      <StatusBadge of="order" status={status} />
      {onHoldReasons.length > 0 && <HeldMark title={onHoldReasons.map(holdReason).join(", ")} />}
      {testMode && <Pill>{t("orders.test")}</Pill>}
    </span>
  );
}

function OrderFilters() {
  const { t } = useTranslation();
  const { q, status, onHold, ready } = route.useSearch();
  return (
    <Filters more={<MoreFilters />}>
      <SearchFilter label={t("orders.search")} value={q} />
      <SelectFilter
        label={t("orders.status")}
        name="status"
        value={status}
        options={ORDER_STATUSES.map((value) => ({ value, label: t(`status.order.${value}`) }))}
      />
      <FlagFilter
        label={t("orders.hold")}
        name="onHold"
        value={onHold}
        yes={t("orders.onHold")}
        no={t("orders.notOnHold")}
      />
      <FlagFilter
        label={t("orders.ready")}
        name="ready"
        value={ready}
        yes={t("orders.ready")}
        no={t("orders.notReady")}
      />
      <SetFilters />
    </Filters>
  );
}

function MoreFilters() {
  const { t } = useTranslation();
  const { testMode, merchantId, connectionId, facilityId, ...search } = route.useSearch();
  const isStaff = useHasRole("operator", "support", "warehouse");
  const hasConnections = useHasRole("operator", "support", "merchant", "partner");
  const setFilters = useSetFilters();
  const { createdSince: since, createdUntil: until } = search;
  return (
    <>
      <DayFilter
        label={t("orders.from")}
        value={since && localDay(new Date(since))}
        onDay={(day) => setFilters({ createdSince: day && startOf(day) })}
      />
      <DayFilter
        label={t("orders.to")}
        // The moment before the day that follows.
        value={until && localDay(new Date(Date.parse(until) - 1))}
        onDay={(day) => setFilters({ createdUntil: day && endOf(day) })}
      />
      {isStaff && (
        <ThingFilter kind="merchants" label={t("orders.merchant")} name="merchantId" value={merchantId} />
      )}
      {hasConnections && (
        <ThingFilter
          kind="connections"
          label={t("orders.connection")}
          name="connectionId"
          value={connectionId}
        />
      )}
      {isStaff && (
        <ThingFilter kind="facilities" label={t("orders.facility")} name="facilityId" value={facilityId} />
      )}
      <FlagFilter
        label={t("orders.mode")}
        name="testMode"
        value={testMode}
        yes={t("orders.test")}
        no={t("orders.real")}
      />
    </>
  );
}

/** The filters that have no field on the line, because links set them or their fields are behind the button. */
function SetFilters() {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const search = route.useSearch();
  const { createdSince, createdUntil, hasFailedDelivery, testMode } = search;
  const merchant = useThingName("merchants", search.merchantId);
  const connection = useThingName("connections", search.connectionId);
  const facility = useThingName("facilities", search.facilityId);
  return (
    <ActiveFilters
      of={[
        { name: "holdReason", label: search.holdReason && holdReason(search.holdReason) },
        { name: "createdSince", label: createdSince && t("orders.since", { time: begin(createdSince) }) },
        { name: "createdUntil", label: createdUntil && t("orders.until", { time: begin(createdUntil) }) },
        {
          name: "hasFailedDelivery",
          label:
            hasFailedDelivery === undefined ? undefined : t(`orders.failedDelivery.${hasFailedDelivery}`),
        },
        {
          name: "testMode",
          label: testMode === undefined ? undefined : t(testMode ? "orders.test" : "orders.real"),
        },
        { name: "merchantId", label: search.merchantId && (merchant ?? t("orders.ofMerchant")) },
        { name: "connectionId", label: search.connectionId && (connection ?? t("orders.ofConnection")) },
        { name: "facilityId", label: search.facilityId && (facility ?? t("orders.ofFacility")) },
      ]}
    />
  );
}

/** A day where a time is the beginning of one. */
const begin = (text: string): string => {
  const at = new Date(text);
  return at.toISOString() === startOf(localDay(at)) ? shortDay(at) : shortTime(at, new Date());
};
