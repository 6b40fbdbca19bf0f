import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHasRole, useMe } from "../../api/me.ts";
import type { PaymentFailure, PaymentFailuresOfMerchant } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { formatNumber } from "../../text/format.ts";
import { useDeclineReason } from "../../text/words.ts";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { DataTable, IdText } from "../../ui/list/data-table.tsx";
import { ActiveFilters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { HeldMark } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { RetryAll } from "./payment-actions.tsx";
import { failuresByMerchantQuery, failuresQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/payment-failures");

/** Declined payments that are still owed, with what ends each of them. */
export function FailuresPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isOperator = useHasRole("operator");
  const own = useMe().grants.flatMap((grant) => (grant.role === "merchant" ? grant.merchantIds : []));
  const [account] = isOperator || own.length !== 1 ? [] : own;
  return (
    <ListPage
      title={t("money.failures")}
      about={t("money.failuresAbout")}
      actions={
        <ButtonLink
          to={account === undefined ? paths.merchants() : paths.merchantAccount(account)}
          size="xs"
          variant="default"
        >
          {t(account === undefined ? "money.accounts" : "money.account")}
        </ButtonLink>
      }
      filters={
        <ActiveFilters of={[{ name: "merchantId", label: search.merchantId && t("orders.ofMerchant") }]} />
      }
      above={<ByMerchant merchantId={search.merchantId} />}
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
          cell: ({ remedy }) =>
            t(isOperator ? `money.remedies.${remedy}` : `money.remediesOfMerchant.${remedy}`),
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

/** What each merchant owes, and the one request that attempts all of it again. */
function ByMerchant({ merchantId }: { merchantId: string | undefined }) {
  const { t } = useTranslation();
  const mayRetry = useHasRole("operator", "merchant");
  const { data } = useQuery(failuresByMerchantQuery(merchantId));
  if (data === undefined || data.data.length === 0) return null;
  return (
    <DataTable
      label={t("money.byMerchant")}
      rows={data.data}
      rowKey={(row) => row.merchantId}
      rowTo={(row) => paths.merchantAccount(row.merchantId)}
      columns={[
        { name: t("money.merchant"), cell: ({ merchantName }) => merchantName, isName: true },
        { name: t("money.orders"), cell: ({ count }) => formatNumber(count), align: "right" },
        {
          name: t("money.sum"),
          cell: ({ amount }) => <Money of={amount} />,
          align: "right",
          phone: "beside",
        },
        { name: t("money.oldest"), cell: ({ oldestAt }) => <Time at={oldestAt} as="relative" />, drop: 2 },
        { name: t("money.nextAttempt"), cell: (row) => <NextAttempt of={row} />, drop: 3 },
        ...(mayRetry
          ? [
              {
                name: t("money.whatToDo"),
                align: "right" as const,
                phone: "end" as const,
                cell: ({ merchantId: id, count }: PaymentFailuresOfMerchant) => (
                  <RetryAll merchantId={id} count={count} />
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function Reason({ of: { reason, stopsOrder } }: { of: PaymentFailure }) {
  const declineReason = useDeclineReason();
  return (
    <>
      {stopsOrder && <HeldMark />} {declineReason(reason)}
    </>
  );
}

function NextAttempt({ of: { nextAttemptAt } }: { of: Pick<PaymentFailure, "nextAttemptAt"> }) {
  const { t } = useTranslation();
  return nextAttemptAt === null ? t("money.noMoreAttempts") : <Time at={nextAttemptAt} as="relative" />;
}
