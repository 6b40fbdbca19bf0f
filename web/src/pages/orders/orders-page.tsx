import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole } from "../../api/me.ts";
import type { OrderSummary } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { exactTime } from "../../text/format.ts";
import { IdText } from "../../ui/list/data-table.tsx";
import { ActiveFilters, Filters, FlagFilter, SearchFilter, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Parts } from "../../ui/page.tsx";
import { Pill, StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { SavedViews } from "../views/saved-views.tsx";
import { liveOrders } from "./live-orders.ts";
import { useHoldReason } from "./order-text.ts";
import classes from "./orders-page.module.css";
import { ORDER_STATUSES, ordersQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/orders");

export function OrdersPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  // Partners do not (docs/design/people.md, "Partners' developers").
  const seesPrices = useHasRole("operator", "support", "merchant", "warehouse");
  return (
    <ListPage
      title={t("orders.title")}
      actions={
        <SavedViews
          page="orders"
          to={(query) => paths.orders(Object.fromEntries(new URLSearchParams(query)))}
        />
      }
      query={ordersQuery(search)}
      filters={<OrderFilters />}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.order(id)}
      live={liveOrders(search)}
      empty={isFiltered ? t("orders.emptyFiltered") : t("orders.empty")}
      columns={[
        { name: t("orders.order"), cell: (order) => <OrderName order={order} /> },
        { name: t("orders.status"), cell: (order) => <OrderState order={order} /> },
        {
          name: t("orders.recipient"),
          cell: ({ shippingAddress }) => <Recipient of={shippingAddress} />,
          isLong: true,
        },
        { name: t("orders.merchant"), cell: ({ merchantName }) => merchantName, isMinor: true, isName: true },
        {
          name: t("orders.connection"),
          cell: ({ connectionName }) => connectionName,
          isMinor: true,
          isName: true,
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
        { name: t("orders.created"), cell: ({ createdAt }) => <Time at={createdAt} />, align: "right" },
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

function OrderState({ order: { status, onHoldReasons, testMode } }: { order: OrderSummary }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  return (
    <span className={classes["states"]}>
      <StatusBadge of="order" status={status} />
      {onHoldReasons.map((reason) => (
        <Pill key={reason} tone="warning">
          {holdReason(reason)}
        </Pill>
      ))}
      {testMode && <Pill>{t("orders.test")}</Pill>}
    </span>
  );
}

function OrderFilters() {
  const { t } = useTranslation();
  const { q, status, onHold, ready, testMode } = route.useSearch();
  return (
    <Filters>
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
      <FlagFilter
        label={t("orders.mode")}
        name="testMode"
        value={testMode}
        yes={t("orders.test")}
        no={t("orders.real")}
      />
      <LinkedFilters />
    </Filters>
  );
}

/** The filters that links to this list set. */
function LinkedFilters() {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const search = route.useSearch();
  const { createdSince, createdUntil, hasFailedDelivery } = search;
  const exact = (time: string) => exactTime(new Date(time));
  return (
    <ActiveFilters
      of={[
        { name: "holdReason", label: search.holdReason && holdReason(search.holdReason) },
        { name: "createdSince", label: createdSince && t("orders.since", { time: exact(createdSince) }) },
        { name: "createdUntil", label: createdUntil && t("orders.until", { time: exact(createdUntil) }) },
        {
          name: "hasFailedDelivery",
          label:
            hasFailedDelivery === undefined ? undefined : t(`orders.failedDelivery.${hasFailedDelivery}`),
        },
        { name: "sort", label: search.sort === "oldest" ? t("orders.oldestFirst") : undefined },
        { name: "merchantId", label: search.merchantId && t("orders.ofMerchant") },
        { name: "connectionId", label: search.connectionId && t("orders.ofConnection") },
        { name: "facilityId", label: search.facilityId && t("orders.ofFacility") },
      ]}
    />
  );
}
