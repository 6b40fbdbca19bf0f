import { Alert, Grid, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { Actor, StatementEntry } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { stringifySearch } from "../../routing/search.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { DayFilter } from "../../ui/list/day-filter.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { merchantQuery } from "../merchants/queries.ts";
import { AccountSection } from "./account-section.tsx";
import { failuresQuery, statementQuery, timesOf } from "./queries.ts";
import { StatementSection } from "./statement-section.tsx";
import { StripeSection } from "./stripe-section.tsx";

const route = getRouteApi("/signed-in/merchants/$merchantId/account");

/** The account of a merchant: what it owes, how it pays, and every entry of a period. */
export function AccountPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const search = route.useSearch();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const csv = `/api/merchants/${merchantId}/statement.csv${stringifySearch(timesOf(search))}`;
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
      actions={
        <ButtonLink to={paths.charges(merchantId)} size="xs" variant="default">
          {t("money.charges")}
        </ButtonLink>
      }
      above={
        <>
          <Declined merchantId={merchantId} />
          <Grid gap="md">
            <Grid.Col span={{ base: 12, md: 7 }}>
              <AccountSection merchant={merchant} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <StripeSection merchantId={merchantId} />
            </Grid.Col>
          </Grid>
          <StatementSection
            query={statementQuery(merchantId, search)}
            actions={<DownloadButton address={csv} />}
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
  if (orderId !== null)
    return (
      <TextLink to={paths.order(orderId)} ff="monospace">
        {externalOrderId ?? orderId}
      </TextLink>
    );
  return [reference, note, nameOf(recordedBy)].filter(Boolean).join(" · ");
}

const nameOf = (actor: Actor | null): string | null => actor?.name ?? null;
