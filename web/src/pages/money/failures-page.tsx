import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { PaymentFailure } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { IdText } from "../../ui/list/data-table.tsx";
import { ActiveFilters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { useDeclineReason } from "./decline-reason.ts";
import { failuresQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/payment-failures");

/** Declined payments that are still owed, with what ends each of them. */
export function FailuresPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  return (
    <ListPage
      title={t("money.failures")}
      about={t("money.failuresAbout")}
      actions={
        <ButtonLink to={paths.merchants()} size="xs" variant="default">
          {t("money.accounts")}
        </ButtonLink>
      }
      filters={
        <ActiveFilters of={[{ name: "merchantId", label: search.merchantId && t("orders.ofMerchant") }]} />
      }
      query={failuresQuery(search)}
      rowKey={({ orderId }) => orderId}
      rowTo={({ orderId }) => paths.order(orderId)}
      empty={t("money.noFailures")}
      columns={[
        {
          name: t("money.order"),
          cell: ({ orderId, externalOrderId }) => <IdText id={externalOrderId ?? orderId} title={orderId} />,
        },
        {
          name: t("money.merchant"),
          cell: ({ merchantId, merchantName }) => (
            <TextLink to={paths.merchantAccount(merchantId)}>{merchantName}</TextLink>
          ),
          isName: true,
          phone: "below",
        },
        {
          name: t("money.amount"),
          cell: ({ amount }) => <Money of={amount} />,
          align: "right",
          phone: "beside",
        },
        { name: t("money.why"), cell: (failure) => <Reason of={failure} />, isName: true, drop: 3 },
        {
          name: t("money.whatToDo"),
          cell: ({ remedy }) => t(`money.remedies.${remedy}`),
          isLong: true,
          drop: 2,
        },
        { name: t("money.nextAttempt"), cell: (failure) => <NextAttempt of={failure} />, isMinor: true },
        {
          name: t("money.failed"),
          cell: ({ failedAt }) => <Time at={failedAt} />,
          align: "right",
          phone: "end",
        },
      ]}
    />
  );
}

function Reason({ of: { reason, stopsOrder } }: { of: PaymentFailure }) {
  const { t } = useTranslation();
  const declineReason = useDeclineReason();
  return (
    <>
      {declineReason(reason)} {stopsOrder && <Pill tone="warning">{t("orders.onHold")}</Pill>}
    </>
  );
}

function NextAttempt({ of: { nextAttemptAt } }: { of: PaymentFailure }) {
  const { t } = useTranslation();
  return nextAttemptAt === null ? t("money.noMoreAttempts") : <Time at={nextAttemptAt} as="relative" />;
}
