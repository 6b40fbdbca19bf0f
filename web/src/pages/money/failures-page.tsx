import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { PaymentFailure } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
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
          cell: ({ orderId, externalOrderId }) => (
            <Text span inherit ff="monospace" title={orderId}>
              {externalOrderId ?? orderId}
            </Text>
          ),
        },
        {
          name: t("money.merchant"),
          cell: ({ merchantId, merchantName }) => (
            <TextLink to={paths.merchantAccount(merchantId)}>{merchantName}</TextLink>
          ),
        },
        { name: t("money.amount"), cell: ({ amount }) => <Money of={amount} />, align: "right" },
        { name: t("money.why"), cell: (failure) => <Reason of={failure} /> },
        { name: t("money.whatToDo"), cell: ({ remedy }) => t(`money.remedies.${remedy}`) },
        { name: t("money.nextAttempt"), cell: (failure) => <NextAttempt of={failure} /> },
        { name: t("money.failed"), cell: ({ failedAt }) => <Time at={failedAt} />, align: "right" },
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
