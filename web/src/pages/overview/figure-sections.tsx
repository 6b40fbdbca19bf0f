import { Alert, Grid, Stack } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { Overview } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates/use-live-queries.ts";
import { paths } from "../../paths.ts";
import { TextLink } from "../../ui/link.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { AttentionSection } from "./attention-section.tsx";
import { DeliveriesSection } from "./deliveries-section.tsx";
import { HoldsSection } from "./holds-section.tsx";
import { OrdersSection } from "./orders-section.tsx";
import { OverviewSkeleton } from "./overview-skeleton.tsx";
import { overviewQuery, PERIOD_DEFAULT } from "./queries.ts";
import { TimesSection } from "./times-section.tsx";

const route = getRouteApi("/signed-in/");

/** The figures are of thousands of orders, so they are read less often than a list. */
const READ_EVERY_MS = 15_000;

/** The figures of the last weeks, each with the list behind it. */
export function FigureSections() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...overviewQuery(search),
    placeholderData: keepPreviousData,
  });
  useLiveQueries([overviewQuery(search)], ({ orders }) => orders.length > 0, READ_EVERY_MS);
  return (
    <>
      {search.merchantId !== undefined && (
        <Alert variant="light" icon={<IconInfoCircle size={18} />} p="xs">
          {t("overview.ofMerchant")} <TextLink to={paths.overview()}>{t("overview.ofAll")}</TextLink>
        </Alert>
      )}
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <OverviewSkeleton />
      ) : (
        <Sections of={data} isStale={isPlaceholderData} />
      )}
    </>
  );
}

function Sections({ of: overview, isStale }: { of: Overview; isStale: boolean }) {
  const { merchantId, days = PERIOD_DEFAULT } = route.useSearch();
  return (
    <Stack gap="md" aria-busy={isStale} style={{ opacity: isStale ? 0.6 : 1 }}>
      <AttentionSection attention={overview.attention} />
      <OrdersSection of={overview} days={Number(days)} merchantId={merchantId} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <HoldsSection holds={overview.holds} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, md: 4 }}>
          <TimesSection of={overview} merchantId={merchantId} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, md: 4 }}>
          <DeliveriesSection of={overview.deliveries} merchantId={merchantId} />
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
