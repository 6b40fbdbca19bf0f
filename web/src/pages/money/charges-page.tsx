import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { paths } from "../../paths.ts";
import { useDeclineReason } from "../../text/words.ts";
import { IdText } from "../../ui/list/data-table.tsx";
import { DayFilter, Filters, SelectFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { merchantQuery } from "../merchants/queries.ts";
import { MerchantTabs } from "../thing-tabs.tsx";
import { CHARGE_KINDS, CHARGE_STATUSES, chargesQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants/$merchantId/charges");

/** Everything that was charged or refunded for the orders of a merchant, also what was declined. */
export function ChargesPage() {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  return (
    <ListPage
      title={t("money.charges")}
      crumbs={
        <Crumbs
          of={[
            [merchant.name, paths.merchant(merchantId)],
            [t("money.account"), paths.merchantAccount(merchantId)],
          ]}
        />
      }
      tabs={<MerchantTabs merchantId={merchantId} />}
      query={chargesQuery(merchantId, search)}
      filters={<ChargeFilters />}
      rowKey={({ id }) => id}
      rowTo={({ orderId }) => paths.order(orderId)}
      empty={Object.keys(search).length > 0 ? t("money.noChargesFiltered") : t("money.noCharges")}
      columns={[
        {
          name: t("money.order"),
          cell: ({ orderId, externalOrderId }) => <IdText id={externalOrderId ?? orderId} title={orderId} />,
        },
        { name: t("money.entry"), cell: ({ kind }) => t(`money.chargeKinds.${kind}`), phone: "below" },
        {
          name: t("money.status"),
          cell: ({ status }) => <StatusBadge of="charge" status={status} />,
          phone: "beside",
        },
        {
          name: t("money.why"),
          cell: ({ failureReason }) => (failureReason === null ? "–" : declineReason(failureReason)),
          isLong: true,
          drop: 2,
        },
        {
          name: t("money.gateway"),
          cell: ({ gateway }) => (gateway === null ? "–" : t(`money.gateways.${gateway}`)),
          isMinor: true,
        },
        {
          name: t("money.amount"),
          cell: ({ amount }) => <Money of={amount} />,
          align: "right",
          phone: "end",
        },
        { name: t("money.created"), cell: ({ createdAt }) => <Time at={createdAt} />, align: "right" },
      ]}
    />
  );
}

function ChargeFilters() {
  const { t } = useTranslation();
  const { kind, status, since, until } = route.useSearch();
  return (
    <Filters>
      <SelectFilter
        label={t("money.entry")}
        name="kind"
        value={kind}
        options={CHARGE_KINDS.map((value) => ({ value, label: t(`money.chargeKinds.${value}`) }))}
      />
      <SelectFilter
        label={t("money.status")}
        name="status"
        value={status}
        options={CHARGE_STATUSES.map((value) => ({ value, label: t(`status.charge.${value}`) }))}
      />
      <DayFilter label={t("money.from")} name="since" value={since} />
      <DayFilter label={t("money.to")} name="until" value={until} />
    </Filters>
  );
}
