import IconAlertTriangle from "icon:alert-triangle";
import { Alert, Grid, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import { isProblem } from "../../api/problem.ts";
import type { Actor, Merchant, StatementEntry, StripeMethod } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { stringifySearch } from "../../routing/search.ts";
import { formatNumber } from "../../text/format.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { TextLink } from "../../ui/link.tsx";
import { DayFilter, Filters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Period, Time } from "../../ui/time.tsx";
import { merchantQuery } from "../merchants/queries.ts";
import { MerchantTabs } from "../thing-tabs.tsx";
import { PaySection } from "./pay-section.tsx";
import { ChangeCreditLimit } from "./payment-actions.tsx";
import { accountQuery, failuresQuery, statementQuery, stripeQuery, timesOf } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants/$merchantId/account");

/** The account of a merchant: what it owes, how it pays, and every entry of a period. */
export function AccountPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const file = `/api/merchants/${merchantId}/statement/export${stringifySearch({ ...timesOf(search), format: "xlsx" })}`;
  return (
    <ListPage
      title={t("money.accountOf", { name: merchant.name })}
      label={t("money.entries")}
      crumbs={
        <Crumbs
          of={[
            [t("merchants.title"), paths.merchants()],
            [merchant.name, paths.merchant(merchantId)],
          ]}
        />
      }
      tabs={<MerchantTabs merchantId={merchantId} />}
      above={
        <>
          <Declined merchantId={merchantId} />
          <PaySection merchant={merchant} />
          <Grid>
            <Grid.Col span={{ base: 12, md: 7 }}>
              <AccountSection merchant={merchant} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <StripeSection merchantId={merchantId} />
            </Grid.Col>
          </Grid>
          <StatementSection
            query={statementQuery(merchantId, search)}
            actions={<DownloadButton address={file} />}
          >
            <Filters>
              <DayFilter label={t("money.from")} name="from" value={search.from} />
              <DayFilter label={t("money.to")} name="to" value={search.to} />
            </Filters>
          </StatementSection>
        </>
      }
      query={statementQuery(merchantId, search)}
      rowKey={({ id }) => id}
      empty={t("money.noEntries")}
      columns={[
        { name: t("money.booked"), cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: t("money.entry"), cell: (entry) => <EntryName of={entry} /> },
        { name: t("money.about"), cell: (entry) => <EntrySubject of={entry} /> },
        { name: t("money.amount"), cell: ({ amount }) => <Money of={amount} />, align: "right" },
        { name: t("money.balance"), cell: ({ balance }) => <Money of={balance} />, align: "right" },
      ]}
    />
  );
}

/** Payments that were declined stop orders, so they are named first. */
function Declined({ merchantId }: { merchantId: string }) {
  const { t } = useTranslation();
  const { data } = useQuery(failuresQuery({ merchantId, limit: 1 }));
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t("money.declined")}>
      <Text size="sm">
        {t("money.declinedHelp")}{" "}
        <TextLink to={paths.failures({ merchantId })} inherit underline="always">
          {t("money.showFailures")}
        </TextLink>
      </Text>
    </Alert>
  );
}

function EntryName({ of: { kind, chargeKind } }: { of: StatementEntry }) {
  const { t } = useTranslation();
  const name = t(`money.entryKinds.${kind}`);
  return chargeKind === null || chargeKind === "refund"
    ? name
    : `${name}: ${t(`money.chargeKinds.${chargeKind}`)}`;
}

function EntrySubject({ of: entry }: { of: StatementEntry }) {
  const { orderId, externalOrderId, reference, note, recordedBy } = entry;
  if (orderId !== null) return <TextLink to={paths.order(orderId)}>{externalOrderId ?? orderId}</TextLink>;
  return [reference, note, nameOf(recordedBy)].filter(Boolean).join(" · ");
}

const nameOf = (actor: Actor | null): string | null => actor?.name ?? null;

/** The merchant's debt, and how much more it may owe. */
function AccountSection({ merchant }: { merchant: Merchant }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(accountQuery(merchant.id));
  const isOperator = useHasRole("operator");
  // An account without a balance says nothing about a merchant that is charged through Stripe.
  if (data?.gateway === "stripe" && /^[0.]+$/.test(data.balance.amount)) return null;
  return (
    <Section title={t("money.account")} actions={isOperator && <ChangeCreditLimit merchant={merchant} />}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={70} role="status" aria-label={t("ui.loading")} />
      ) : (
        <Facts
          of={[
            [t("money.balance"), <Money key="balance" of={data.balance} />],
            [
              t("money.creditLimit"),
              data.creditLimit === null ? (
                t("merchants.unlimited")
              ) : (
                <Money key="limit" of={data.creditLimit} />
              ),
            ],
            [
              t("money.available"),
              data.available === null ? t("merchants.unlimited") : <Money key="free" of={data.available} />,
            ],
          ]}
        />
      )}
    </Section>
  );
}

type Props = {
  readonly query: ReturnType<typeof statementQuery>;
  readonly actions: ReactNode;
  /** The choice of the period. */
  readonly children: ReactNode;
};

/** The sums of a period. They add up: opening, charges, refunds and payments are the closing balance. */
function StatementSection({ query, actions, children }: Props) {
  const { t } = useTranslation();
  const { data } = useQuery(query); // The list below shows its error.
  return (
    <Section title={t("money.statement")} actions={actions}>
      {children}
      {data !== undefined && (
        <Facts
          of={[
            [t("money.period"), <Period key="period" from={data.from} to={data.to} />],
            [t("money.opening"), <Money key="opening" of={data.opening} />],
            [t("money.chargesSum"), <Money key="charges" of={data.charges} />],
            [t("money.refunds"), <Money key="refunds" of={data.refunds} />],
            [t("money.paidIn"), <Money key="payments" of={data.payments} />],
            [t("money.closing"), <Money key="closing" of={data.closing} />],
            [t("money.entries"), formatNumber(data.entryCount)],
          ]}
        />
      )}
    </Section>
  );
}

/** How the merchant pays: by its account, or by a payment method at Stripe. */
function StripeSection({ merchantId }: { merchantId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(stripeQuery(merchantId));
  const isOperator = useHasRole("operator");
  const hasNone = isProblem(error, "not-found");
  // After a removal, the data of before is still there beside the problem.
  const method = hasNone ? undefined : data;
  return (
    <Section
      title={t("money.payment")}
      actions={isOperator && (hasNone || method !== undefined) && <Actions {...{ merchantId, method }} />}
    >
      {hasNone ? (
        <Text size="sm">{t("money.byAccount")}</Text>
      ) : error !== null ? (
        <ProblemMessage error={error} retry={() => void refetch()} />
      ) : method === undefined ? (
        <Skeleton height={70} role="status" aria-label={t("ui.loading")} />
      ) : (
        <Stack gap="sm">
          <Text size="sm">{t("money.byStripe")}</Text>
          <Facts
            of={[
              [t("money.customer"), method.customerId],
              [t("money.method"), method.paymentMethodId],
              [t("money.methodSince"), <Time key="since" at={method.createdAt} />],
            ]}
          />
        </Stack>
      )}
    </Section>
  );
}

type ActionsProps = { readonly merchantId: string; readonly method: StripeMethod | undefined };

function Actions({ merchantId, method }: ActionsProps) {
  const { t } = useTranslation();
  const params = { path: { id: merchantId } };
  return (
    <Group gap={6}>
      <ConfirmAction
        label={t(method === undefined ? "money.setStripe" : "money.replaceStripe")}
        effect={t("money.setStripeEffect")}
        done={t("money.stripeSet")}
        initialValues={{ customerId: method?.customerId ?? "", paymentMethodId: "" }}
        validate={({ customerId, paymentMethodId }) => ({
          ...(customerId.trim() === "" && { customerId: t("ui.required") }),
          ...(paymentMethodId.trim() === "" && { paymentMethodId: t("ui.required") }),
        })}
        fields={(form) => (
          <Stack gap="sm">
            <TextInput
              label={t("money.customer")}
              placeholder="cus_…"
              required
              data-autofocus
              {...form.getInputProps("customerId")}
            />
            <TextInput
              label={t("money.method")}
              placeholder="pm_…"
              required
              {...form.getInputProps("paymentMethodId")}
            />
          </Stack>
        )}
        run={({ customerId, paymentMethodId }) =>
          dataOf(
            api.PUT("/api/merchants/{id}/stripe", {
              params,
              body: { customerId: customerId.trim(), paymentMethodId: paymentMethodId.trim() },
            }),
          )
        }
      />
      {method !== undefined && (
        <ConfirmAction
          label={t("money.removeStripe")}
          effect={t("money.removeStripeEffect")}
          done={t("money.stripeRemoved")}
          isDanger
          run={() => dataOf(api.DELETE("/api/merchants/{id}/stripe", { params }))}
        />
      )}
    </Group>
  );
}
